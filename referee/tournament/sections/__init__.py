"""The tournament file, section by section: each module reads one part of a TomlFile and checks it."""
