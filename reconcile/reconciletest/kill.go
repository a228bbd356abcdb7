package reconciletest

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

// Killed reports whether the operator was killed and isn't restarted yet. The functions of a killed operator run until
// they return, so a test that counts what they do has to leave out what they do after the kill. It is safe for
// concurrent use.
func (h *Harness) Killed() bool { return h.process.Load().Dead() }
