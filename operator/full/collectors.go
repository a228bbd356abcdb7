package full

import (
	"github.com/operkit/operkit/reconcile/versions"
	"github.com/prometheus/client_golang/prometheus"
)

// versionMetrics are the metrics of the programs of versions.
type versionMetrics struct {
	pool                             *versions.Pool
	running, inUse, starts, failures *prometheus.Desc
	calls                            *prometheus.Desc
}

// collectors are the metrics of a pool.
func collectors(pool *versions.Pool) []prometheus.Collector {
	desc := func(name, help string, more ...string) *prometheus.Desc {
		return prometheus.NewDesc("operkit_version_"+name, help, append([]string{"version"}, more...), nil)
	}
	return []prometheus.Collector{&versionMetrics{
		pool:     pool,
		running:  desc("running", "Whether the program of a version runs."),
		inUse:    desc("sessions", "Reconciles that use a version."),
		starts:   desc("starts_total", "Starts of the program of a version."),
		failures: desc("failed_starts", "Failed starts in a row."),
		calls:    desc("calls_total", "Calls of the program of a version.", "call"),
	}}
}

// Describe implements prometheus.Collector.
func (m *versionMetrics) Describe(to chan<- *prometheus.Desc) {
	for _, desc := range []*prometheus.Desc{m.running, m.inUse, m.starts, m.failures, m.calls} {
		to <- desc
	}
}

// Collect implements prometheus.Collector.
func (m *versionMetrics) Collect(to chan<- prometheus.Metric) {
	for _, r := range m.pool.Report() {
		running := 0.0
		if r.Running {
			running = 1
		}
		to <- prometheus.MustNewConstMetric(m.running, prometheus.GaugeValue, running, r.Version)
		to <- prometheus.MustNewConstMetric(m.inUse, prometheus.GaugeValue, float64(r.InUse), r.Version)
		to <- prometheus.MustNewConstMetric(m.starts, prometheus.CounterValue, float64(r.Starts), r.Version)
		to <- prometheus.MustNewConstMetric(m.failures, prometheus.GaugeValue, float64(r.Failures), r.Version)
		for call, n := range r.Calls {
			to <- prometheus.MustNewConstMetric(m.calls, prometheus.CounterValue, float64(n), r.Version, call)
		}
	}
}
