"""The solution notebooks run under nbval with a course home of their own."""

from __future__ import annotations

import os
import tempfile

os.environ["COURSE_HOME"] = tempfile.mkdtemp(prefix="course-home-")
