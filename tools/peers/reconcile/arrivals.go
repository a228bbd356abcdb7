package main

import "sync/atomic"

// arrivals waits until something has happened a number of times. More occurrences are allowed.
type arrivals struct {
	left atomic.Int64
	all  chan struct{}
}

func newArrivals(n int) *arrivals {
	a := &arrivals{all: make(chan struct{})}
	a.left.Store(int64(n))
	return a
}

func (a *arrivals) arrived() {
	if a.left.Add(-1) == 0 {
		close(a.all)
	}
}

func (a *arrivals) wait() { <-a.all }
