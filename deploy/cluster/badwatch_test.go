package cluster_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/operkit/operkit/deploy/cluster"
	"github.com/operkit/operkit/tools/envtest"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/client-go/rest"
)

// trial is how long a test of bad watches lasts, and after what time each stream breaks.
func trial() (lasts, breaks time.Duration) {
	if os.Getenv(soakVariable) != "" {
		return time.Minute, time.Second
	}
	return 3 * time.Second, 100 * time.Millisecond
}

// unruly stands between a client and its API server: it answers watches itself, or spoils their streams.
type unruly struct {
	next http.RoundTripper
	// answer is what a watch is told instead; nil: the API server's own word.
	answer func(r *http.Request) *http.Response
	// spoil makes the stream of a watch another one.
	spoil func(body io.ReadCloser) io.ReadCloser

	mu             sync.Mutex
	calm           bool
	watches, lists int
}

func (u *unruly) RoundTrip(r *http.Request) (*http.Response, error) {
	watching := r.URL.Query().Get("watch") != ""
	u.mu.Lock()
	calm := u.calm
	switch {
	case watching:
		u.watches++
	case strings.HasSuffix(r.URL.Path, "/configmaps"):
		u.lists++
	}
	u.mu.Unlock()
	if !watching || calm {
		return u.next.RoundTrip(r)
	}
	if u.answer != nil {
		return u.answer(r), nil
	}
	response, err := u.next.RoundTrip(r)
	if err == nil && response.StatusCode == http.StatusOK {
		response.Body = u.spoil(response.Body)
	}
	return response, err
}

// count gives the watches and lists that were asked for.
func (u *unruly) count() (watches, lists int) {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.watches, u.lists
}

// settle ends the trouble, for watches to come.
func (u *unruly) settle() {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.calm = true
}

// between puts it between a client and its API server.
func (u *unruly) between(config *rest.Config) *rest.Config {
	config = rest.CopyConfig(config)
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		u.next = next
		return u
	})
	return config
}

// breaking is a stream that breaks, some time after it was opened.
type breaking struct {
	io.ReadCloser
	when time.Time
	// events: it breaks only behind a whole event. brought: it has just brought one.
	events, brought bool
	// end is what it ends with: an error, after some text.
	end  error
	text string
	// half: it ends within an event.
	half bool
}

func (b *breaking) Read(p []byte) (int, error) {
	if due := time.Now().After(b.when); due && (b.brought || !b.events) {
		return copy(p, b.text), b.end
	}
	n, err := b.ReadCloser.Read(p)
	if err != nil {
		return n, err
	}
	if b.half && b.brought && time.Now().After(b.when) {
		return n / 2, b.end
	}
	b.brought = n > 0 && p[n-1] == '\n' // a long event comes in parts
	return n, nil
}

// timed ends a stream from outside, as nothing comes that could be read.
func timed(body io.ReadCloser, lasts time.Duration) io.ReadCloser {
	time.AfterFunc(lasts, func() { _ = body.Close() })
	return body
}

// A watch that breaks again and again loses nothing, tells nothing twice, and isn't worth a word: it comes back.
func TestBreakingWatches(t *testing.T) {
	t.Parallel()
	lasts, breaks := trial()
	for name, test := range map[string]struct {
		reason string
		spoil  func(body io.ReadCloser) io.ReadCloser
		// exact: not one event is merged with another.
		exact bool
	}{
		"at its end": {"an API server ends a watch now and then",
			func(body io.ReadCloser) io.ReadCloser {
				return &breaking{ReadCloser: body, when: time.Now().Add(breaks), events: true, end: io.EOF}
			}, true},
		"within an event": {"a connection breaks anywhere",
			func(body io.ReadCloser) io.ReadCloser {
				return &breaking{ReadCloser: body, when: time.Now().Add(breaks), events: true, half: true, end: io.ErrUnexpectedEOF}
			}, true},
		"by an error": {"a proxy loses its API server",
			func(body io.ReadCloser) io.ReadCloser {
				return &breaking{ReadCloser: body, when: time.Now().Add(breaks), events: true, end: errors.New("read tcp: connection reset by peer")}
			}, false},
		"with what is no event": {"a proxy writes a page of its own into it",
			func(body io.ReadCloser) io.ReadCloser {
				return &breaking{ReadCloser: body, when: time.Now().Add(breaks), events: true, text: "<html>bad gateway</html>\n", end: io.EOF}
			}, false},
	} {
		t.Run("watch 19, mistake 13: "+name, func(t *testing.T) {
			t.Parallel()
			u := &unruly{spoil: test.spoil}
			s := newPlagued(t, u)
			if test.exact { // two changes of one object may become one event, if nobody has looked in between
				s.author.pace = func() {
					require.Eventually(t, func() bool { return len(s.chain.events()) > len(s.author.wrote)-5 }, patience, time.Millisecond)
				}
			}
			s.write(t, lasts, 5*time.Millisecond)
			watches, lists := u.count()
			u.settle()
			s.arrives(t)
			if test.exact {
				assert.Equal(t, s.author.wrote, s.chain.events(), test.reason)
			}
			t.Logf("%d writes, %d events, %d watches, %d lists in %s", len(s.author.wrote), len(s.chain.events()), watches, lists, lasts)
			assert.Greater(t, watches, 2, "it did break")
			assert.LessOrEqual(t, watches+lists, 3*int(lasts/breaks)+5, "a few requests a break, at most")
			assert.Empty(t, s.said.String(), "it heals by itself, at once")
		})
	}
}

// Where nothing happens, watches that break don't become a flood either.
func TestBreakingWatchesOfWhatIsStill(t *testing.T) {
	t.Parallel()
	lasts, breaks := trial()
	u := &unruly{spoil: func(body io.ReadCloser) io.ReadCloser { return timed(body, breaks) }}
	s := newPlagued(t, u)
	s.write(t, time.Millisecond, 0)
	s.arrives(t)
	watches, lists := u.count()
	time.Sleep(lasts)
	after, listed := u.count()
	t.Logf("%d watches, %d lists in %s", after-watches, listed-lists, lasts)
	assert.LessOrEqual(t, after-watches, 2*int(lasts/breaks)+2)
	assert.LessOrEqual(t, listed-lists, int(lasts/breaks)+2)
	u.settle()
	s.write(t, time.Millisecond, 0)
	s.arrives(t)
	assert.LessOrEqual(t, s.said.count("msg="), 1, "%s", s.said)
}

const goneStatus = `{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","reason":"Expired","message":"too old resource version","code":410}`

// An API server that has always forgotten what it is asked for is listed, again and again but not in a hurry.
func TestForgetfulWatches(t *testing.T) {
	t.Parallel()
	lasts, _ := trial()
	for name, test := range map[string]struct {
		reason string
		u      *unruly
		said   int
	}{
		"each watch": {"it doesn't begin", &unruly{answer: func(r *http.Request) *http.Response {
			return &http.Response{StatusCode: http.StatusGone, Request: r, Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(strings.NewReader(goneStatus))}
		}}, 1},
		"each stream": {"it ends at once", &unruly{answer: func(r *http.Request) *http.Response {
			return &http.Response{StatusCode: http.StatusOK, Request: r, Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(strings.NewReader(
				`{"type":"ERROR","object":` + goneStatus + "}\n"))}
		}}, 1},
		"each stream after some events": {"it ends soon", &unruly{spoil: func(body io.ReadCloser) io.ReadCloser {
			return &breaking{ReadCloser: body, when: time.Now().Add(20 * time.Millisecond), events: true, text: `{"type":"ERROR","object":` + goneStatus + "}\n", end: io.EOF}
		}}, 0},
	} {
		t.Run("watch 19: "+name, func(t *testing.T) {
			t.Parallel()
			s := newPlagued(t, test.u)
			s.write(t, lasts, 5*time.Millisecond)
			watches, lists := test.u.count()
			s.arrives(t) // by lists alone
			t.Logf("%d writes, %d events, %d watches, %d lists in %s; said %d", len(s.author.wrote), len(s.chain.events()), watches, lists, lasts, s.said.count("msg="))
			assert.LessOrEqual(t, watches+lists, 8+int(lasts/firstPause)*3, "%s, and is asked with ever longer pauses", test.reason)
			require.Eventually(t, func() bool { return s.said.count("listing repeatedly") == test.said }, patience, 10*time.Millisecond)
			test.u.settle()
			require.Eventually(t, func() bool {
				s.write(t, time.Millisecond, 100*time.Millisecond)
				return s.said.count("watching again") == test.said
			}, patience, time.Millisecond, "%s", s.said)
			s.arrives(t)
			assert.Equal(t, test.said, s.said.count("listing repeatedly"))
			assert.Equal(t, 2*test.said, s.said.count("msg="), "once, and its end: %s", s.said)
		})
	}
}

// firstPause is the shortest time between two tries to list and watch.
const firstPause = 250 * time.Millisecond

// plagued is a cluster whose watches are in trouble, and somebody who writes.
type plagued struct {
	c      *cluster.Cluster
	author *author
	chain  *chain
	said   *lines
}

func newPlagued(t *testing.T, u *unruly) *plagued {
	t.Helper()
	env := envtest.Start(t)
	s := &plagued{author: &author{client: others(t, env, configMap), env: env, prefix: "note-"}, chain: newChain("note-"), said: &lines{}}
	s.c = newCluster(t, u.between(env.Config), cluster.Namespaces(env.Namespace), cluster.Logger(slog.New(slog.NewTextHandler(s.said, nil))))
	s.chain.follow(t, s.c)
	return s
}

func (s *plagued) write(t *testing.T, lasts, pause time.Duration) {
	t.Helper()
	ctx, end := context.WithTimeout(t.Context(), lasts)
	defer end()
	s.author.write(t, ctx, pause)
}

// arrives waits until what was told is what is there.
func (s *plagued) arrives(t *testing.T) {
	t.Helper()
	s.chain.arrives(t, func() (map[string]string, error) { return s.author.there(t.Context()) })
	s.chain.agrees(t, s.c.View(), s.author.env.Namespace)
}
