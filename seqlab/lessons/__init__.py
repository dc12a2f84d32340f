"""The course: lessons that run, ask, measure and check; `course/` holds one folder for each."""
