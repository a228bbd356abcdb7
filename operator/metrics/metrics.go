package metrics

import (
	"fmt"
	"net/http"
	"sync"

	"github.com/operkit/operkit/reconcile/watch"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// Metrics are the metrics of one process. Its methods are safe for concurrent use.
type Metrics struct {
	registry   *prometheus.Registry
	reconciles reconciles
	requests   requests
	leads      prometheus.Gauge

	mu      sync.Mutex
	engines []*watch.Engine
	tallied []tallied
}

// New returns the metrics of the named operator, with the metrics of the Go runtime and of the process.
func New(operator, version string) *Metrics {
	m := &Metrics{
		registry: prometheus.NewRegistry(), reconciles: newReconciles(), requests: newRequests(),
		leads: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "leader_election_master_status", Help: "1 if this process leads, 0 if it waits.", ConstLabels: prometheus.Labels{"name": operator},
		}),
	}
	build := prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "operkit_operator_info", Help: "The operator and its version.", ConstLabels: prometheus.Labels{"operator": operator, "version": version},
	})
	build.Set(1)
	m.registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}), build, m.leads, &present{m}, &standings{m})
	m.registry.MustRegister(m.reconciles.all()...)
	m.registry.MustRegister(m.requests.all()...)
	return m
}

// Handler serves the metrics.
func (m *Metrics) Handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{Registry: m.registry})
}

// Collect adds a collector.
func (m *Metrics) Collect(collector prometheus.Collector) error {
	if err := m.registry.Register(collector); err != nil {
		return fmt.Errorf("metrics: %w", err)
	}
	return nil
}

// Leads sets whether this process leads.
func (m *Metrics) Leads(works bool) {
	m.leads.Set(0)
	if works {
		m.leads.Set(1)
	}
}

// Engine adds the metrics of an engine.
func (m *Metrics) Engine(engine *watch.Engine) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.engines = append(m.engines, engine)
}

// Events adds the number of Kubernetes events that couldn't be written.
func (m *Metrics) Events(dropped func() uint64) {
	m.registry.MustRegister(prometheus.NewCounterFunc(prometheus.CounterOpts{
		Name: "operkit_kubernetes_events_dropped_total", Help: "Kubernetes events that were not written: too many, or refused by the cluster.",
	}, func() float64 { return float64(dropped()) }))
}
