package versions

import "maps"

// Report is the state of one version.
type Report struct {
	// Version is its name.
	Version string
	// Release is the release that its program names, empty if it never ran or names none.
	Release string
	// Running: its process runs, with the id PID, and isn't about to end. InUse is how many reconciles use it now.
	Running bool
	PID     int
	InUse   int
	// Starts counts its processes so far, Failures the consecutive starts that failed.
	Starts, Failures int
	// Calls counts the calls of its processes by method, see PROTOCOL.md: each "setup" is one session, each "content"
	// one object whose content was sent.
	Calls map[string]int
}

// Report returns the state of each version, for metrics, sorted by version.
func (p *Pool) Report() []Report {
	all := p.all()
	reports := make([]Report, len(all))
	for i, v := range all {
		reports[i] = v.report()
	}
	return reports
}

func (v *version) report() Report {
	v.mu.Lock()
	defer v.mu.Unlock()
	r := Report{Version: v.name, InUse: v.inUse, Starts: v.starts, Failures: v.failures, Calls: maps.Clone(v.calls)}
	if v.declaration != nil {
		r.Release = v.declaration.Release
	}
	if v.process != nil && !v.process.ending() {
		r.Running, r.PID = true, v.process.command.Process.Pid
	}
	return r
}

func (v *version) count(method string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.calls == nil {
		v.calls = map[string]int{}
	}
	v.calls[method]++
}
