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
	pauses     prometheus.Gauge
	reviews    *prometheus.HistogramVec

	mu      sync.Mutex
	engines []*watch.Engine
	tallied []tallied
	// dropped are the functions that count events that couldn't be written.
	dropped []func() uint64
}

// New returns the metrics of the named operator, with the metrics of the Go runtime and of the process.
func New(operator, version string) *Metrics {
	m := &Metrics{
		registry: prometheus.NewRegistry(), reconciles: newReconciles(), requests: newRequests(), reviews: newReviews(),
		leads: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "leader_election_master_status", Help: "1 if this process leads, 0 if it waits.", ConstLabels: prometheus.Labels{"name": operator},
		}),
	}
	m.pauses = prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "operkit_paused", Help: "1 if this process pauses because of another process of the operator, or because it is frozen.",
	})
	build := prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "operkit_operator_info", Help: "The operator and its version.", ConstLabels: prometheus.Labels{"operator": operator, "version": version},
	})
	build.Set(1)
	m.registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}), build, m.leads, m.pauses, m.reviews, &present{m}, &standings{m})
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

// Pauses sets whether this process pauses because of another process of the operator, see package peering.
func (m *Metrics) Pauses(pauses bool) {
	m.pauses.Set(0)
	if pauses {
		m.pauses.Set(1)
	}
}

// Engine adds the metrics of an engine.
func (m *Metrics) Engine(engine *watch.Engine) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.engines = append(m.engines, engine)
}

// Renew drops the engines and the resources: after a pause a process makes new ones, which it adds again.
func (m *Metrics) Renew() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.engines, m.tallied = nil, nil
}

// Events adds the number of Kubernetes events that couldn't be written. Several numbers add up.
func (m *Metrics) Events(dropped func() uint64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.dropped = append(m.dropped, dropped); len(m.dropped) > 1 {
		return
	}
	m.registry.MustRegister(prometheus.NewCounterFunc(prometheus.CounterOpts{
		Name: "operkit_kubernetes_events_dropped_total", Help: "Kubernetes events that were not written: too many, or refused by the cluster.",
	}, m.eventsDropped))
}

func (m *Metrics) eventsDropped() (sum float64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, dropped := range m.dropped {
		sum += float64(dropped())
	}
	return sum
}
