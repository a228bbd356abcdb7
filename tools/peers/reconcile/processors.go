package main

import "runtime"

// allProcessors lets a benchmark use them all, as an operator does: it is about time, not about work.
func allProcessors() (restore func()) {
	before := runtime.GOMAXPROCS(runtime.NumCPU())
	return func() { runtime.GOMAXPROCS(before) }
}
