package main

import "runtime"

// allProcessors lets a benchmark use all processors, as an operator does, for rows that are about time and not about
// work.
func allProcessors() (restore func()) {
	before := runtime.GOMAXPROCS(runtime.NumCPU())
	return func() { runtime.GOMAXPROCS(before) }
}
