// Of the house rules only those that were changed are sent.
"use strict";
for (const form of document.querySelectorAll("form.setup")) {
  form.addEventListener("formdata", (event) => {
    for (const field of form.querySelectorAll("[data-default]")) {
      if (field.value === field.dataset.default) event.formData.delete(field.name);
    }
  });
}
