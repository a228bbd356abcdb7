package metrics

import (
	"net/http"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// requests are the metrics of requests to API servers.
type requests struct {
	total   *prometheus.CounterVec
	seconds *prometheus.HistogramVec
}

func newRequests() requests {
	return requests{
		total: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "rest_client_requests_total", Help: "Requests to the API server, by code, method and host.",
		}, []string{"code", "method", "host"}),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "rest_client_request_duration_seconds", Help: "Time until the response header, by method and host.",
			Buckets: []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60},
		}, []string{"verb", "host"}),
	}
}

func (r *requests) all() []prometheus.Collector { return []prometheus.Collector{r.total, r.seconds} }

// sentKey is the context key of the number of requests of a reconcile.
type sentKey struct{}

// Transport measures requests and counts them for the reconcile of their context. It is for Wrap of a rest.Config.
func (m *Metrics) Transport(next http.RoundTripper) http.RoundTripper {
	return transport{next, &m.requests}
}

type transport struct {
	http.RoundTripper
	*requests
}

// RoundTrip implements http.RoundTripper.
func (t transport) RoundTrip(req *http.Request) (*http.Response, error) {
	if sent, ok := req.Context().Value(sentKey{}).(*atomic.Int64); ok {
		sent.Add(1)
	}
	began := time.Now()
	resp, err := t.RoundTripper.RoundTrip(req)
	code := "<error>"
	if err == nil {
		code = strconv.Itoa(resp.StatusCode)
	}
	t.total.WithLabelValues(code, req.Method, req.URL.Host).Inc()
	t.seconds.WithLabelValues(req.Method, req.URL.Host).Observe(time.Since(began).Seconds())
	return resp, err
}

// WrappedRoundTripper implements net.RoundTripperWrapper of apimachinery.
func (t transport) WrappedRoundTripper() http.RoundTripper { return t.RoundTripper }
