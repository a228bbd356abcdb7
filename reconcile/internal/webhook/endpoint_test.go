package webhook_test

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/operkit/operkit/reconcile/internal/testlog"
	"github.com/operkit/operkit/reconcile/internal/webhook"
	"github.com/stretchr/testify/assert"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

type answerer func(ctx context.Context, review []byte) (any, error)

// ask sends a review, and returns the status, the answer and the log.
func ask(method, target, body string, answer answerer) (int, string, string) {
	var log testlog.Text
	recorder := httptest.NewRecorder()
	webhook.New("check", slog.New(slog.NewTextHandler(&log, nil)), answer).ServeHTTP(recorder, httptest.NewRequest(method, target, strings.NewReader(body)))
	return recorder.Code, recorder.Body.String(), log.String()
}

func TestEndpoint(t *testing.T) {
	t.Parallel()
	echo := func(_ context.Context, review []byte) (any, error) {
		return map[string]string{"got": string(review)}, nil
	}
	for _, row := range []struct {
		reason, method, body string
		answer               answerer
		status               int
		want, logged         string
	}{
		{"admission 30: an answer is JSON", http.MethodPost, "a", echo, 200, `{"got":"a"}`, ""},
		{"admission 30: only POST is taken", http.MethodGet, "", echo, 405, "webhook check: it takes POST only\n", "refused"},
		{"admission 30: a review that is too large is refused", http.MethodPost, strings.Repeat("a", webhook.MostBytes+1), echo, 413, "webhook check: the review is larger than 8388608 bytes\n", "refused"},
		{"admission 30: a review of the largest size is read", http.MethodPost, strings.Repeat("a", webhook.MostBytes),
			func(_ context.Context, review []byte) (any, error) { return len(review), nil }, 200, "8388608", ""},
		{"admission 31: a refusal is for the sender", http.MethodPost, "", func(context.Context, []byte) (any, error) { return nil, webhook.Refuse(400, "no %s", "tea") }, 400, "no tea\n", "no tea"},
		{"admission 31: any other error is for the log", http.MethodPost, "", func(context.Context, []byte) (any, error) { return nil, errors.New("hunter2") }, 500,
			"webhook check: it can't answer: the log of the operator says why\n", "hunter2"},
		{"admission 31: a panic is for the log", http.MethodPost, "", func(context.Context, []byte) (any, error) { panic("hunter2") }, 500,
			"webhook check: it can't answer: the log of the operator says why\n", "hunter2"},
		{"admission 31: an answer that isn't JSON is for the log", http.MethodPost, "", func(context.Context, []byte) (any, error) { return func() {}, nil }, 500,
			"webhook check: it can't answer: the log of the operator says why\n", "unsupported type"},
	} {
		t.Run(row.reason, func(t *testing.T) {
			t.Parallel()
			status, body, log := ask(row.method, "/", row.body, row.answer)
			assert.Equal(t, row.status, status)
			assert.Equal(t, row.want, body)
			assert.Contains(t, log, row.logged)
			if row.logged == "" {
				assert.Empty(t, log)
			}
		})
	}
}

func TestTime(t *testing.T) {
	t.Parallel()
	for target, want := range map[string]time.Duration{"/?timeout=3s": 3 * time.Second, "/": 30 * time.Second, "/?timeout=1h": 30 * time.Second, "/?timeout=x": 30 * time.Second, "/?timeout=-1s": 30 * time.Second} {
		t.Run("admission 32: the time that the API server waits ends the context: "+target, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				begin := time.Now()
				status, _, _ := ask(http.MethodPost, target, "", func(ctx context.Context, _ []byte) (any, error) {
					<-ctx.Done()
					return nil, ctx.Err()
				})
				assert.Equal(t, want, time.Since(begin))
				assert.Equal(t, 500, status)
			})
		})
	}
	t.Run("admission 32: a review waits for its turn, and is refused if none comes in time", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			var log testlog.Text
			release := make(chan struct{})
			endpoint := webhook.New("check", slog.New(slog.NewTextHandler(&log, nil)), func(context.Context, []byte) (any, error) {
				<-release
				return "done", nil
			})
			for range webhook.MostAtOnce {
				go endpoint.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodPost, "/", nil))
			}
			synctest.Wait()
			late := httptest.NewRecorder()
			endpoint.ServeHTTP(late, httptest.NewRequest(http.MethodPost, "/?timeout=1s", nil))
			assert.Equal(t, http.StatusTooManyRequests, late.Code)
			waiting := httptest.NewRecorder()
			ended := make(chan struct{})
			go func() {
				defer close(ended)
				endpoint.ServeHTTP(waiting, httptest.NewRequest(http.MethodPost, "/", nil))
			}()
			synctest.Wait()
			close(release)
			<-ended
			assert.Equal(t, http.StatusOK, waiting.Code)
		})
	})
}
