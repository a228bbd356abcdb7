package child

import (
	"os"
	"runtime/debug"
)

// garbagePercent is how much garbage there may be beside what is kept: a version makes much and keeps little, since all of a session goes with it.
const garbagePercent = 400

// collectLess has the process collect its garbage less often, unless its environment says how.
func collectLess() (restore func()) {
	if os.Getenv("GOGC") != "" || os.Getenv("GOMEMLIMIT") != "" {
		return func() {}
	}
	before := debug.SetGCPercent(garbagePercent)
	return func() { debug.SetGCPercent(before) }
}
