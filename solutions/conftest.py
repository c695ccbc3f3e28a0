"""The solution notebooks run under nbval with a course home of their own."""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile

os.environ["COURSE_HOME"] = tempfile.mkdtemp(prefix="course-home-")
atexit.register(shutil.rmtree, os.environ["COURSE_HOME"], ignore_errors=True)
