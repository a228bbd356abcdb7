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

// Certificate adds the time until which the certificate of webhooks is valid. expires returns zero if there is
// none, or none that expires. It is called once in a process.
func (m *Metrics) Certificate(expires func() time.Time) {
	m.registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "operkit_webhook_certificate_expiration_timestamp_seconds", Help: "Time until which the certificate of webhooks is valid, 0 if there is none that expires.",
	}, func() float64 {
		if at := expires(); !at.IsZero() {
			return float64(at.Unix())
		}
		return 0
	}))
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
