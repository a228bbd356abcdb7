package audit_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/operkit/operkit/tools/envtest/audit"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// entry makes a line of a log. The n-th second of the day is when the request came.
func entry(n int, stage, verb, user, namespace, name string) string {
	return fmt.Sprintf(`{"kind":"Event","auditID":"id-%s","stage":%q,"requestURI":"/x","verb":%q,"user":{"username":%q},`+
		`"objectRef":{"resource":"configmaps","namespace":%q,"name":%q},"responseStatus":{"code":200},`+
		`"requestReceivedTimestamp":"2026-11-21T00:00:%02dZ"}`+"\n", name, stage, verb, user, namespace, name, n)
}

func newLog(t *testing.T, lines ...string) audit.Log {
	t.Helper()
	log := audit.Log{Path: filepath.Join(t.TempDir(), "audit.log")}
	for _, line := range lines {
		appendTo(t, log, line)
	}
	return log
}

func appendTo(t *testing.T, log audit.Log, text string) {
	t.Helper()
	file, err := os.OpenFile(log.Path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	require.NoError(t, err)
	_, err = file.WriteString(text)
	require.NoError(t, err)
	require.NoError(t, file.Close())
}

func called(calls audit.Calls) []string {
	var names []string
	for _, call := range calls {
		names = append(names, call.Name)
	}
	return names
}

func end(t *testing.T, log audit.Log) audit.Position {
	t.Helper()
	at, err := log.End()
	require.NoError(t, err)
	return at
}

func TestLogCallsBetweenPositions(t *testing.T) {
	t.Parallel()
	log := newLog(t, entry(1, audit.ResponseComplete, "create", "me", "ns", "before"))
	from := end(t, log)
	appendTo(t, log, entry(2, audit.ResponseComplete, "create", "me", "ns", "mine"))
	appendTo(t, log, entry(2, audit.ResponseComplete, "create", "me too", "ns", "of one whose name begins so"))
	appendTo(t, log, entry(2, audit.ResponseComplete, "create", "you", "ns", "yours, about me"))
	appendTo(t, log, entry(2, audit.ResponseComplete, "create", "me", "elsewhere", "mine elsewhere"))
	appendTo(t, log, entry(2, "RequestReceived", "create", "me", "ns", "not answered yet"))
	appendTo(t, log, entry(2, audit.Panic, "create", "me", "ns", "crashed"))
	to := end(t, log)
	appendTo(t, log, entry(3, audit.ResponseComplete, "create", "me", "ns", "after"))

	calls, err := log.Calls(from, to, audit.Match{Users: []string{"me"}})
	require.NoError(t, err)
	assert.Equal(t, []string{"mine", "mine elsewhere", "crashed"}, called(calls))
	calls, err = log.Calls(from, to, audit.Match{Namespace: "elsewhere"})
	require.NoError(t, err)
	assert.Equal(t, []string{"mine elsewhere"}, called(calls))
	calls, err = log.Calls(from, to, audit.Match{Users: []string{"you"}, Namespace: "elsewhere"})
	require.NoError(t, err)
	assert.Equal(t, []string{"yours, about me", "mine elsewhere"}, called(calls), "either will do")
	calls, err = log.Calls(audit.Position{}, to, audit.Match{})
	require.NoError(t, err)
	assert.Empty(t, calls, "nobody's")
}

func TestLogCountsALongRequestOnce(t *testing.T) {
	t.Parallel()
	mark := audit.Position{Received: time.Date(2026, 11, 21, 0, 0, 5, 0, time.UTC)}
	const watch, me = "watch", "me"
	tests := map[string]struct {
		reason string
		lines  []string
		want   []string
	}{
		"begun":               {"it still runs", []string{entry(6, audit.ResponseStarted, watch, me, "ns", "w")}, []string{"w"}},
		"begun and ended":     {"one call", []string{entry(6, audit.ResponseStarted, watch, me, "ns", "w"), entry(6, audit.ResponseComplete, watch, me, "ns", "w")}, []string{"w"}},
		"ended":               {"it began before the window", []string{entry(4, audit.ResponseComplete, watch, me, "ns", "w")}, nil},
		"only ends are there": {"a log without beginnings", []string{entry(6, audit.ResponseComplete, watch, me, "ns", "w")}, []string{"w"}},
		"a long get":          {"an ordinary request counts when it was answered", []string{entry(4, audit.ResponseComplete, "get", me, "ns", "g")}, []string{"g"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			log := newLog(t, test.lines...)
			calls, err := log.Calls(mark, end(t, log), audit.Match{Users: []string{me}})
			require.NoError(t, err)
			assert.Equal(t, test.want, called(calls), test.reason)
		})
	}
}

func TestLogAwaitsARequest(t *testing.T) {
	t.Parallel()
	log := newLog(t, entry(1, audit.ResponseComplete, "get", "me", "ns", "mark"))
	from := end(t, log)
	line := entry(2, audit.ResponseComplete, "get", "me", "ns", "mark")
	type answer struct {
		at  audit.Position
		err error
	}
	answers := make(chan answer, 1)
	go func() {
		at, err := log.Await(t.Context(), from, "mark")
		answers <- answer{at, err}
	}()
	appendTo(t, log, entry(2, "RequestReceived", "get", "me", "ns", "mark"))
	appendTo(t, log, entry(2, audit.ResponseComplete, "get", "me", "ns", "marked"))
	appendTo(t, log, line[:20])
	select {
	case got := <-answers:
		t.Fatalf("nothing has answered yet: %v", got)
	case <-time.After(50 * time.Millisecond):
	}
	appendTo(t, log, line[20:])
	got := <-answers
	require.NoError(t, got.err)
	assert.Equal(t, end(t, log).Offset, got.at.Offset)
	assert.Equal(t, 2, got.at.Received.Second())
}

func TestLogErrorsNameTheLog(t *testing.T) {
	t.Parallel()
	log := newLog(t)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	_, err := log.Await(ctx, audit.Position{}, "mark")
	require.ErrorIs(t, err, context.DeadlineExceeded, "a log that isn't there yet is waited for")
	assert.ErrorContains(t, err, "audit log "+log.Path+": no request for mark in it")

	appendTo(t, log, "no JSON about me: \"me\"\n")
	_, err = log.Calls(audit.Position{}, end(t, log), audit.Match{Users: []string{"me"}})
	assert.ErrorContains(t, err, "audit log "+log.Path+" before byte 23: audit event: ")

	_, err = log.Calls(audit.Position{Offset: 1000}, audit.Position{Offset: 2000}, audit.Match{Users: []string{"me"}})
	assert.ErrorContains(t, err, "it was replaced")

	_, err = audit.Log{Path: log.Path + "/x"}.End()
	assert.ErrorContains(t, err, "audit log: ")
}

func ExampleLog() {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = os.RemoveAll(dir) }()
	log := audit.Log{Path: filepath.Join(dir, "audit.log")}
	mark, _ := log.End() // the log may not even be there yet

	line := entry(1, audit.ResponseComplete, "create", "operator", "shop", "web") // what the API server appends
	if err := os.WriteFile(log.Path, []byte(line), 0o600); err != nil {
		fmt.Println(err)
		return
	}
	now, err := log.Await(context.Background(), mark, "web")
	if err != nil {
		fmt.Println(err)
		return
	}
	calls, err := log.Calls(mark, now, audit.Match{Users: []string{"operator"}})
	fmt.Println(calls, err)
	// Output: create configmaps shop/web -> 200 by operator <nil>
}

func ExampleParse() {
	event, err := audit.Parse([]byte(`{"kind":"Event","stage":"ResponseComplete","requestURI":"/api/v1/pods","verb":"list",` +
		`"user":{"username":"operator"},"objectRef":{"resource":"pods","apiVersion":"v1"},"responseStatus":{"code":200}}`))
	fmt.Println(event, err)
	// Output: list pods -> 200 by operator <nil>
}
