// A function that does `work`, but never twice at a time: a call during the work has it done once more afterwards.
"use strict";
function oneAtATime(work) {
  let busy = false;
  let again = false;
  return async function renew() {
    again = busy;
    if (busy) return;
    busy = true;
    try {
      await work();
    } finally {
      busy = false;
      if (again) renew();
    }
  };
}
