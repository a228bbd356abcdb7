package main

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/operkit/operkit/deploy"
	v1 "github.com/operkit/operkit/examples/webapp/api/v1"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func appOf(channel string) *v1.WebApp {
	return &v1.WebApp{ObjectMeta: metav1.ObjectMeta{Name: "hello", UID: "1"}, Spec: v1.WebAppSpec{Channel: channel}}
}

func TestAsk(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		reason  string
		code    int
		body    string
		version string
		err     string
	}{
		{"a release", 200, `{"version": "1.4.2"}`, "1.4.2", ""},
		{"what else the document says is for others", 200, `{"version": "1.4.2-rc.1", "date": "today"}`, "1.4.2-rc.1", ""},
		{"a page for people", 200, `<html>`, "", "the release channel answers no JSON document with a version: invalid character '<'"},
		{"no version", 200, `{}`, "", `names the version "", which is none`},
		{"a version that no label takes", 200, `{"version": "1.4.2+build"}`, "", `names the version "1.4.2+build", which is none: a valid label`},
		{"a number", 200, `{"version": 1.4}`, "", "the release channel answers no JSON document with a version: json: cannot unmarshal number"},
		{"a document without end", 200, `{"version": "` + strings.Repeat("1", largestAnswer), "", "unexpected EOF"},
		{"nothing there", 404, `{"version": "1.4.2"}`, "", "the release channel answers 404 Not Found"},
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(row.code)
			_, _ = w.Write([]byte(row.body)) // who asks may have read enough
		}))
		version, err := ask(t.Context(), server.URL)
		server.Close()
		assert.Equal(t, row.version, version, row.reason)
		if row.err == "" {
			assert.NoError(t, err, row.reason)
			continue
		}
		assert.ErrorContains(t, err, row.err, row.reason)
	}
}

// A reason that differs from try to try would be told with each.
func TestAskSaysTheSameEachTime(t *testing.T) {
	t.Parallel()
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	for _, row := range []struct{ reason, channel, want string }{
		{"nobody listens", gone.URL, "the release channel doesn't answer: connect: connection refused"},
		{"it is no URL", "http://[::1", "the release channel can't be asked: missing ']' in host"},
	} {
		_, err := ask(t.Context(), row.channel)
		assert.EqualError(t, err, row.want, row.reason)
	}
}

func TestChannelIsAskedByPollsAlone(t *testing.T) {
	t.Parallel()
	server, other := newReleases(t, "1.4.2"), newReleases(t, "2.0.0")
	var known channels
	version := func(app *v1.WebApp) string {
		version, err := known.version(t.Context(), app)
		require.NoError(t, err)
		return version
	}
	poll := func() string {
		version, err := known.poll(t.Context(), deploy.Ref{Name: "hello"})
		require.NoError(t, err)
		return version
	}
	assert.Empty(t, poll(), "before the first reconcile nobody knows whom to ask")
	app := appOf(server.URL)
	for range 3 {
		assert.Equal(t, "1.4.2", version(app))
	}
	assert.Equal(t, 1, server.count(), "the first reconcile asks, the others don't")
	server.release("1.5.0")
	assert.Equal(t, "1.4.2", version(app))
	assert.Equal(t, "1.5.0", poll())
	assert.Equal(t, "1.5.0", version(app))
	server.breakDown()
	_, err := known.poll(t.Context(), deploy.Ref{Name: "hello"})
	require.Error(t, err)
	last, silence := known.version(t.Context(), app)
	assert.Equal(t, "1.5.0", last, "what it named last stays")
	assert.Equal(t, err, silence)
	assert.Equal(t, "2.0.0", version(appOf(other.URL)), "another channel is asked at once")
	another := appOf(other.URL)
	another.UID = "2"
	other.release("2.1.0")
	assert.Equal(t, "2.1.0", version(another), "and so is one for another WebApp of that name")
}

func TestChannelsAreSafeForConcurrentUse(t *testing.T) {
	t.Parallel()
	server := newReleases(t, "1.4.2")
	var known channels
	var running sync.WaitGroup
	for range 4 {
		running.Go(func() { _, _ = known.version(t.Context(), appOf(server.URL)) })
		running.Go(func() { _, _ = known.poll(t.Context(), deploy.Ref{Name: "hello"}) })
	}
	running.Wait()
	version, err := known.version(t.Context(), appOf(server.URL))
	require.NoError(t, err)
	assert.Equal(t, "1.4.2", version)
}
