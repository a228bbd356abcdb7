package metrics

import (
	"slices"
	"time"

	"github.com/operkit/operkit/reconcile/watch"
	"github.com/prometheus/client_golang/prometheus"
)

// The metrics whose values are read from the engines when they are collected.
var (
	depth      = prometheus.NewDesc("workqueue_depth", "Resources that wait for a worker.", []string{"name", controller}, nil)
	workers    = prometheus.NewDesc("controller_runtime_max_concurrent_reconciles", "Workers, of all controllers together.", []string{controller}, nil)
	unfinished = prometheus.NewDesc("workqueue_unfinished_work_seconds", "Sum of the times since all running reconciles started.", []string{"name", controller}, nil)
	longest    = prometheus.NewDesc("workqueue_longest_running_processor_seconds", "Time since the oldest running reconcile started.", []string{"name", controller}, nil)
	unread     = prometheus.NewDesc("operkit_events_unread", "Events that have not been processed.", nil, nil)
	events     = prometheus.NewDesc("operkit_events_total", "Received events.", nil, nil)
	timers     = prometheus.NewDesc("operkit_resources_timed", "Resources that are reconciled again after a time or a failure.", nil, nil)
	stuck      = prometheus.NewDesc("operkit_reconciles_stuck", "Reconciles that don't return although their time is over.", nil, nil)
	unwatched  = prometheus.NewDesc("operkit_kinds_unwatched", "Kinds that can't be watched.", nil, nil)
	failing    = prometheus.NewDesc("operkit_resources_retried", "Failed resources that wait for another try.", nil, nil)
	backoff    = prometheus.NewDesc("operkit_backoff_longest_seconds", "Longest time between two tries of a failing resource.", nil, nil)
)

// together is the label for all controllers, which share one queue.
const together = "all"

// present collects the present state of the engines.
type present struct{ *Metrics }

// Describe implements prometheus.Collector.
func (*present) Describe(descriptions chan<- *prometheus.Desc) {
	for _, one := range []*prometheus.Desc{depth, workers, unfinished, longest, unread, events, timers, stuck, unwatched, failing, backoff} {
		descriptions <- one
	}
}

// Collect implements prometheus.Collector.
func (p *present) Collect(found chan<- prometheus.Metric) {
	p.mu.Lock()
	engines := slices.Clone(p.engines)
	p.mu.Unlock()
	sum := newSum(engines, time.Now())
	gauge := func(what *prometheus.Desc, value float64, labels ...string) {
		found <- prometheus.MustNewConstMetric(what, prometheus.GaugeValue, value, labels...)
	}
	gauge(depth, sum.waiting, together, together)
	gauge(workers, sum.workers, together)
	gauge(unfinished, sum.unfinished, together, together)
	gauge(longest, sum.longest, together, together)
	gauge(unread, sum.unread)
	gauge(timers, sum.timers)
	gauge(stuck, sum.stuck)
	gauge(unwatched, sum.unwatched)
	gauge(failing, sum.failing)
	gauge(backoff, sum.backoff)
	found <- prometheus.MustNewConstMetric(events, prometheus.CounterValue, sum.events)
}

// sum adds up the state of all engines.
type sum struct{ waiting, workers, unfinished, longest, unread, timers, stuck, unwatched, events, failing, backoff float64 }

func newSum(engines []*watch.Engine, now time.Time) (s sum) {
	for _, engine := range engines {
		state := engine.State()
		s.waiting += float64(state.Waiting)
		s.workers += float64(state.Workers)
		s.unread += float64(state.Unread)
		s.timers += float64(state.Timers)
		s.events += float64(state.Events)
		s.failing += float64(state.Failing)
		s.backoff = max(s.backoff, state.LongestBackoff.Seconds())
		for _, running := range state.Running {
			since := now.Sub(running.Since).Seconds()
			s.unfinished += since
			s.longest = max(s.longest, since)
			if running.Stuck {
				s.stuck++
			}
		}
		for _, kind := range state.Kinds {
			if kind.Reason != nil {
				s.unwatched++
			}
		}
	}
	return s
}
