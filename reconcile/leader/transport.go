package leader

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
)

// Transport lets a request pass only while this replica leads, and cancels the request when this replica stops leading.
// A response that is still being read, such as a watch, then ends too. A request that isn't let pass fails with
// ErrNotLeading. Each request is checked when it is sent, against a clock and not by a signal.
//
// Use it in the client-go configuration of the client that the work uses: config.Wrap(elector.Transport). The client
// that renews the lock must not use it.
func (e *Elector) Transport(next http.RoundTripper) http.RoundTripper {
	next = cmp.Or(next, http.DefaultTransport)
	if e.lock == nil {
		return next
	}
	return &guard{next: next, term: func(*http.Request) (*term, bool) { return e.current.Load(), true }}
}

type guard struct {
	next http.RoundTripper
	// term returns the term of a request, nil if it is over; false if the request belongs to no term and passes.
	term func(req *http.Request) (*term, bool)
}

// WrappedRoundTripper returns the transport below, for client-go, which closes idle connections with it.
func (g *guard) WrappedRoundTripper() http.RoundTripper { return g.next }

// RoundTrip implements http.RoundTripper.
func (g *guard) RoundTrip(req *http.Request) (*http.Response, error) {
	t, guarded := g.term(req)
	if !guarded {
		return g.next.RoundTrip(req)
	}
	if t == nil {
		return refuse(req, ErrNotLeading)
	}
	if err := t.check(); err != nil {
		return refuse(req, err)
	}
	ctx, cancel := context.WithCancelCause(req.Context())
	stop := context.AfterFunc(t.calls, func() { cancel(refused(req, context.Cause(t.calls))) })
	release := func() { stop(); cancel(context.Canceled) }
	resp, err := g.next.RoundTrip(req.WithContext(ctx))
	if err != nil {
		// Read the cause before release, which cancels ctx with another cause.
		if req.Context().Err() == nil && ctx.Err() != nil {
			err = fmt.Errorf("%w: %w", context.Cause(ctx), err)
		}
		release()
		return nil, err
	}
	resp.Body = follow(cmp.Or[io.ReadCloser](resp.Body, http.NoBody), release)
	return resp, nil
}

// refuse returns the error of a request that isn't sent. A RoundTripper closes the body in any case.
func refuse(req *http.Request, cause error) (*http.Response, error) {
	if req.Body != nil {
		_ = req.Body.Close()
	}
	return nil, refused(req, cause)
}

func refused(req *http.Request, cause error) error {
	if errors.Is(cause, ErrNotLeading) {
		return fmt.Errorf("%s %s: %w", req.Method, req.URL.Path, cause)
	}
	return fmt.Errorf("%s %s: %w: %w", req.Method, req.URL.Path, ErrNotLeading, cause)
}

// follow calls release when the body is closed by its reader. The body of an upgraded connection can be written too.
func follow(body io.ReadCloser, release func()) io.ReadCloser {
	followed := followedBody{body, release}
	if writer, ok := body.(io.Writer); ok {
		return struct {
			followedBody
			io.Writer
		}{followed, writer}
	}
	return followed
}

type followedBody struct {
	io.ReadCloser
	release func()
}

// Close implements io.Closer.
func (b followedBody) Close() error {
	defer b.release()
	return b.ReadCloser.Close()
}
