package full

import (
	"github.com/operkit/operkit/reconcile/versions"
	"github.com/prometheus/client_golang/prometheus"
)

// The metrics of the programs of versions.
var (
	running  = desc("running", "Whether the program of a version runs.")
	inUse    = desc("sessions", "Reconciles that use a version.")
	starts   = desc("starts_total", "Starts of the program of a version.")
	failures = desc("failed_starts", "Failed starts in a row.")
	calls    = desc("calls_total", "Calls of the program of a version.", "call")
)

func desc(name, help string, more ...string) *prometheus.Desc {
	return prometheus.NewDesc("operkit_version_"+name, help, append([]string{"version"}, more...), nil)
}

// versionMetrics collects the metrics of the programs of versions.
type versionMetrics struct{ pool *versions.Pool }

// Describe implements prometheus.Collector.
func (versionMetrics) Describe(to chan<- *prometheus.Desc) {
	for _, one := range []*prometheus.Desc{running, inUse, starts, failures, calls} {
		to <- one
	}
}

// Collect implements prometheus.Collector.
func (m versionMetrics) Collect(to chan<- prometheus.Metric) {
	for _, r := range m.pool.Report() {
		up := 0.0
		if r.Running {
			up = 1
		}
		to <- prometheus.MustNewConstMetric(running, prometheus.GaugeValue, up, r.Version)
		to <- prometheus.MustNewConstMetric(inUse, prometheus.GaugeValue, float64(r.InUse), r.Version)
		to <- prometheus.MustNewConstMetric(starts, prometheus.CounterValue, float64(r.Starts), r.Version)
		to <- prometheus.MustNewConstMetric(failures, prometheus.GaugeValue, float64(r.Failures), r.Version)
		for call, n := range r.Calls {
			to <- prometheus.MustNewConstMetric(calls, prometheus.CounterValue, float64(n), r.Version, call)
		}
	}
}
