package main

import (
	"context"
	"net/http"
	"sync"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"
)

// sent has the numbers of requests of a client. Watches are counted separately: they start when a kind is first watched
// or when the server has ended one, and not because of a pass.
type sent struct{ writes, reads, watches int }

// calls counts all requests of a client, including discovery, dry runs and failed requests.
type calls struct {
	next http.RoundTripper

	mu  sync.Mutex
	all sent
}

// RoundTrip implements http.RoundTripper.
func (c *calls) RoundTrip(request *http.Request) (*http.Response, error) {
	c.mu.Lock()
	switch {
	case request.URL.Query().Has("watch"):
		c.all.watches++
	case request.Method == http.MethodGet:
		c.all.reads++
	default:
		c.all.writes++
	}
	c.mu.Unlock()
	return c.next.RoundTrip(request)
}

// sent returns the counts since it was last called.
func (c *calls) sent() sent {
	c.mu.Lock()
	defer c.mu.Unlock()
	all := c.all
	c.all = sent{}
	return all
}

// counted returns the opener of ours, with a count of its calls.
func counted(c *calls) opener {
	return func(ctx context.Context, config *rest.Config, where string, objects []*unstructured.Unstructured) (side, error) {
		config = rest.CopyConfig(config)
		config.Wrap(func(next http.RoundTripper) http.RoundTripper {
			c.next = next
			return c
		})
		return newOperkit(ctx, config, where, objects)
	}
}

// sameCalls returns the calls of a warm pass over a hundred unchanged objects.
func (l lab) sameCalls(ctx context.Context) (sent, error) {
	where, err := l.populate(ctx, newOperkit, hundred)
	if err != nil {
		return sent{}, err
	}
	return l.calls(ctx, where, hundred, warmUps, unchanged)
}

// newCalls returns the calls of the first pass over a hundred objects that don't exist.
func (l lab) newCalls(ctx context.Context) (sent, error) {
	where, err := l.namespace(ctx)
	if err != nil {
		return sent{}, err
	}
	return l.calls(ctx, where, hundred, 0, created)
}

// changeCalls returns the calls of a pass over a hundred objects with one changed field each.
func (l lab) changeCalls(ctx context.Context) (sent, error) {
	where, err := l.populate(ctx, newOperkit, hundred)
	if err != nil {
		return sent{}, err
	}
	return l.calls(ctx, where, changed, 0, configured)
}

// restartCalls returns the calls of the first pass over unchanged objects after a restart: the Manager and the cluster
// only know what the watches have returned.
func (l lab) restartCalls(ctx context.Context, objects source) (sent, error) {
	where, err := l.populate(ctx, newOperkit, objects)
	if err != nil {
		return sent{}, err
	}
	return l.calls(ctx, where, objects, 0, unchanged)
}

// calls opens ours, makes some passes without any work, and returns the calls of the next pass. Calls for the opening,
// such as discovery and the lists of the watches, don't count.
func (l lab) calls(ctx context.Context, where string, objects source, warmUps int, want outcome) (sent, error) {
	var c calls
	s, err := l.open(ctx, counted(&c), where, objects)
	if err != nil {
		return sent{}, err
	}
	defer s.close()
	for range warmUps {
		if err := s.pass(ctx, unchanged); err != nil {
			return sent{}, err
		}
	}
	c.sent()
	err = s.pass(ctx, want)
	return c.sent(), err
}
