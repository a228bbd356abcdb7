package metrics

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/operkit/operkit/reconcile/request"
	"github.com/operkit/operkit/reconcile/watch"
	"github.com/prometheus/client_golang/prometheus"
)

// reconciles are the metrics of reconciles by the kind of the resource.
type reconciles struct {
	total, errors, permanent, panics, timeouts, retries, adds *prometheus.CounterVec
	active                                                    *prometheus.GaugeVec
	seconds, waited, worked, calls                            *prometheus.HistogramVec
}

const controller = "controller"

func newReconciles() reconciles {
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, append([]string{controller}, labels...))
	}
	histogram := func(name, help string, buckets []float64) *prometheus.HistogramVec {
		return prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: name, Help: help, Buckets: buckets}, []string{controller})
	}
	queued := func(name, help string) *prometheus.CounterVec { return counter(name, help, "name") }
	seconds := []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60, 120}
	return reconciles{
		total:     counter("controller_runtime_reconcile_total", "Reconciles, by result: success, requeue_after or error.", "result"),
		errors:    counter("controller_runtime_reconcile_errors_total", "Reconciles that failed."),
		permanent: counter("controller_runtime_terminal_reconcile_errors_total", "Failed reconciles that are not retried."),
		panics:    counter("controller_runtime_reconcile_panics_total", "Reconciles that panicked."),
		timeouts:  counter("controller_runtime_reconcile_timeouts_total", "Reconciles that reached their timeout."),
		retries:   queued("workqueue_retries_total", "Reconciles after a failure."),
		adds:      queued("workqueue_adds_total", "Resources taken from the queue."),
		active: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "controller_runtime_active_workers", Help: "Running reconciles.",
		}, []string{controller}),
		seconds: histogram("controller_runtime_reconcile_time_seconds", "Duration of reconciles.", seconds),
		waited:  histogram("workqueue_queue_duration_seconds", "Time of resources in the queue.", seconds),
		worked:  histogram("workqueue_work_duration_seconds", "Time that workers spend on a resource.", seconds),
		calls:   histogram("operkit_reconcile_calls", "Requests to the API server in a reconcile.", []float64{0, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89}),
	}
}

func (r *reconciles) all() []prometheus.Collector {
	return []prometheus.Collector{r.total, r.errors, r.permanent, r.panics, r.timeouts, r.retries, r.adds, r.active, r.seconds, r.waited, r.worked, r.calls}
}

// Around is for watch.Around: it measures each reconcile.
func (m *Metrics) Around(next watch.Reconciler) watch.Reconciler {
	return measured{next, &m.reconciles}
}

// measured is a Reconciler whose reconciles are measured.
type measured struct {
	next watch.Reconciler
	*reconciles
}

// Reconcile implements watch.Reconciler.
func (m measured) Reconcile(ctx context.Context, req request.Request) (result request.Result, err error) {
	kind := req.Key.Kind.Kind
	m.adds.WithLabelValues(kind, kind).Inc()
	m.waited.WithLabelValues(kind).Observe(req.Waited.Seconds())
	if req.Attempt > 0 {
		m.retries.WithLabelValues(kind, kind).Inc()
	}
	m.active.WithLabelValues(kind).Inc()
	sent, began, panicked := new(atomic.Int64), time.Now(), true
	defer func() {
		took := time.Since(began).Seconds()
		m.active.WithLabelValues(kind).Dec()
		m.seconds.WithLabelValues(kind).Observe(took)
		m.worked.WithLabelValues(kind).Observe(took)
		m.calls.WithLabelValues(kind).Observe(float64(sent.Load()))
		m.ended(ctx, kind, result, err, panicked)
	}()
	result, err = m.next.Reconcile(context.WithValue(ctx, sentKey{}, sent), req)
	panicked = false
	return result, err
}

// ended counts the result of a reconcile.
func (r *reconciles) ended(ctx context.Context, kind string, result request.Result, err error, panicked bool) {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		r.timeouts.WithLabelValues(kind).Inc()
	}
	outcome := "success"
	switch {
	case panicked:
		outcome = "error"
		r.panics.WithLabelValues(kind).Inc()
		r.errors.WithLabelValues(kind).Inc()
	case err != nil:
		outcome = "error"
		r.errors.WithLabelValues(kind).Inc()
		if request.IsPermanent(err) {
			r.permanent.WithLabelValues(kind).Inc()
		}
	case result.RequeueAfter > 0:
		outcome = "requeue_after"
	}
	r.total.WithLabelValues(kind, outcome).Inc()
}
