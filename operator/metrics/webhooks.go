package metrics

import (
	"net/http"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// newReviews returns the metric of webhooks and conversions.
func newReviews() *prometheus.HistogramVec {
	return prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name: "operkit_webhook_request_duration_seconds", Help: "Time until a review of the API server is answered, by webhook and HTTP status.",
		Buckets: []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30},
	}, []string{"webhook", "code"})
}

// Webhook measures how long the reviews of a webhook or of a conversion take.
func (m *Metrics) Webhook(name string, next http.Handler) http.Handler {
	return http.HandlerFunc(func(to http.ResponseWriter, from *http.Request) {
		began, answer := time.Now(), &statusWriter{ResponseWriter: to, code: http.StatusOK}
		next.ServeHTTP(answer, from)
		m.reviews.WithLabelValues(name, strconv.Itoa(answer.code)).Observe(time.Since(began).Seconds())
	})
}

// statusWriter remembers the HTTP status of an answer.
type statusWriter struct {
	http.ResponseWriter
	code int
}

// WriteHeader implements http.ResponseWriter.
func (w *statusWriter) WriteHeader(code int) {
	w.code = code
	w.ResponseWriter.WriteHeader(code)
}
