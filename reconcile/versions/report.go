package versions

import "maps"

// Report is how it stands with one version.
type Report struct {
	// Version is its name.
	Version string
	// Release is what its program says it is, empty if it never ran or doesn't say.
	Release string
	// Running tells that its process runs, which has the id PID, and isn't about to end; InUse how many reconciles use it at present.
	Running bool
	PID     int
	InUse   int
	// Starts counts the processes that it has had, Failures the starts in a row that came to nothing.
	Starts, Failures int
	// Calls counts what its processes were asked for, by the name of the call: "setup" is one session, "content" one object whose content
	// was asked for because it isn't known to be in the cluster.
	Calls map[string]int
}

// Report tells how it stands with each version, for metrics; ascending by version.
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
	if v.said != nil {
		r.Release = v.said.Release
	}
	if v.life != nil && !v.life.ending() {
		r.Running, r.PID = true, v.life.process.Process.Pid
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
