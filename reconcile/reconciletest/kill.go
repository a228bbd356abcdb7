package reconciletest

import "sync"

// Kill kills the operator at its nth write from now on, 1 for the next one, in the order of Calls. The write doesn't
// reach the cluster; if arrives is true it does, and only the response is lost. All later writes of the killed operator
// fail, and aren't among the Calls. When the running reconcile has returned, the operator is restarted as by Restart.
//
// A kill that never happens fails the test.
func (h *Harness) Kill(nth int, arrives bool) {
	h.t.Helper()
	if nth < 1 {
		h.t.Fatalf("reconciletest: kill at write %d: use 1 for the next write", nth)
	}
	process := h.process.Load()
	process.Kill(nth, arrives)
	h.t.Cleanup(func() {
		h.t.Helper()
		if !process.Dead() && !h.t.Failed() {
			h.t.Errorf("kill at write %d: this never happened; there were %d writes", nth, process.Writes())
		}
	})
}

// Depose lets another replica take over while the operator's nth write from now on is on its way: the operator ends as
// by Kill, and the write arrives when the next replica has nothing left to do, in the same RunUntilSettled.
//
// A write that never happens fails the test.
func (h *Harness) Depose(nth int) {
	h.t.Helper()
	h.onlyInMemory("Depose")
	h.late.arm()
	h.Kill(nth, false)
}

// Killed reports whether the operator was killed and isn't restarted yet. The functions of a killed operator run until
// they return, so a test that counts what they do has to leave out what they do after the kill. It is safe for
// concurrent use.
func (h *Harness) Killed() bool { return h.process.Load().Dead() }

// late keeps the write of a deposed operator until it arrives.
type late struct {
	mu sync.Mutex
	// armed: the next write that an operator is killed at is kept.
	armed bool
	write func() error
}

func (l *late) arm() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.armed = true
}

// disarm forgets a kill that never happened.
func (l *late) disarm() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.armed = false
}

// keep keeps a write that an operator was killed at, if the operator was deposed.
func (l *late) keep(write func() error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.armed {
		l.armed, l.write = false, write
	}
}

// arrive sends the write. Nobody gets its response. It reports whether there was any.
func (l *late) arrive() bool {
	l.mu.Lock()
	write := l.write
	l.write = nil
	l.mu.Unlock()
	if write == nil {
		return false
	}
	_ = write()
	return true
}
