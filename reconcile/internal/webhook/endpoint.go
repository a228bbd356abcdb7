package webhook

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"time"

	"github.com/operkit/operkit/reconcile/internal/failure"
)

// The limits of an Endpoint.
const (
	// MostBytes is the size of the largest review that is read. The API server takes objects of 3 MiB, and a review may
	// hold an object as it is and as it was.
	MostBytes = 8 << 20
	// MostTime is the longest time that the API server waits for an answer.
	MostTime = 30 * time.Second
	// MostAtOnce is how many reviews are answered at the same time. Others wait for their turn.
	MostAtOnce = 64
)

// Endpoint answers reviews. It is an http.Handler, and safe for concurrent use.
type Endpoint struct {
	name   string
	logger *slog.Logger
	answer func(ctx context.Context, review []byte) (any, error)
	turns  chan struct{}
}

// New returns an Endpoint. answer returns the answer to a review, which is written as JSON; its error is why there is
// none: one of Refuse is for whoever has sent the review, any other one for the log. A panic is such an error. ctx ends
// when the API server no longer waits.
func New(name string, logger *slog.Logger, answer func(ctx context.Context, review []byte) (any, error)) *Endpoint {
	return &Endpoint{name: name, logger: logger.With("webhook", name), answer: answer, turns: make(chan struct{}, MostAtOnce)}
}

// refusal is why a review isn't answered.
type refusal struct {
	code int
	text string
}

func (r *refusal) Error() string { return r.text }

// Refuse returns an error for a review that can't be answered, with an HTTP status.
func Refuse(code int, format string, args ...any) error {
	return &refusal{code, fmt.Sprintf(format, args...)}
}

// ServeHTTP implements http.Handler.
func (e *Endpoint) ServeHTTP(to http.ResponseWriter, from *http.Request) {
	answer, err := e.serve(from)
	if refused, ok := errors.AsType[*refusal](err); ok {
		e.logger.Warn("a request to the webhook is refused", "status", refused.code, "error", refused.text)
		http.Error(to, refused.text, refused.code)
		return
	}
	if err != nil {
		e.logger.Error("the webhook can't answer: the API server goes by its failure policy", "error", err)
		http.Error(to, "webhook "+e.name+": it can't answer: the log of the operator says why", http.StatusInternalServerError)
		return
	}
	to.Header().Set("Content-Type", "application/json")
	_, _ = to.Write(answer) // if the API server has gone, there is nobody to tell
}

// serve returns the answer to a request as JSON.
func (e *Endpoint) serve(from *http.Request) ([]byte, error) {
	if from.Method != http.MethodPost {
		return nil, Refuse(http.StatusMethodNotAllowed, "webhook %s: it takes POST only", e.name)
	}
	ctx, cancel := context.WithTimeout(from.Context(), timeOf(from))
	defer cancel()
	select {
	case e.turns <- struct{}{}:
		defer func() { <-e.turns }()
	case <-ctx.Done():
		return nil, Refuse(http.StatusTooManyRequests, "webhook %s: %d reviews are being answered: no turn came in time", e.name, MostAtOnce)
	}
	review, err := io.ReadAll(http.MaxBytesReader(nil, from.Body, MostBytes))
	if _, large := errors.AsType[*http.MaxBytesError](err); large {
		return nil, Refuse(http.StatusRequestEntityTooLarge, "webhook %s: the review is larger than %d bytes", e.name, MostBytes)
	}
	if err != nil {
		return nil, Refuse(http.StatusBadRequest, "webhook %s: the review can't be read: %v", e.name, err)
	}
	answer, err := failure.Value(func() (any, error) { return e.answer(ctx, review) })
	if err != nil {
		return nil, err
	}
	return json.Marshal(answer)
}

// timeOf returns how long the API server waits for the answer, which it says in the URL.
func timeOf(from *http.Request) time.Duration {
	given, err := time.ParseDuration(from.URL.Query().Get("timeout"))
	if err != nil || given <= 0 {
		return MostTime
	}
	return min(given, MostTime)
}
