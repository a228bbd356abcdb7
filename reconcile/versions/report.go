package versions

import "maps"

// Report is the state of one version.
type Report struct {
	// Version is the name of the version.
	Version string
	// Release is the release that the program of the version names, empty if the program never ran or names none.
	Release string
	// Running: the process of the version runs, with the id PID, and isn't about to end. InUse is how many reconciles
	// use the process now.
	Running bool
	PID     int
	InUse   int
	// Starts is the number of processes that were started so far, and Failures the number of consecutive starts that
	// failed.
	Starts, Failures int
	// Calls counts the manager's calls of these processes by method, see PROTOCOL.md: each "setup" is one session, and
	// each "content" is one object whose content was sent.
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
