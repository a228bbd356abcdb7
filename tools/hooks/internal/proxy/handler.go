package proxy

import (
	"context"
	"net/http"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// call is a request of a run.
type call struct {
	access *Access
	target target
	verb   string
	// kind is the kind of the target of a write. Reads don't need it.
	kind schema.GroupVersionKind
	// isOwner means that the target is the owner of the run.
	isOwner bool
	// body is what is sent, nil for nothing. contentType is its type.
	body        []byte
	contentType string
	// given is the name in the body of an object that is created.
	given string
	// holds means that the call has one of the bodies of its run.
	holds bool
	// isDry means that nothing is stored.
	isDry bool
}

// ServeHTTP implements http.Handler.
func (p *Proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	connection := http.NewResponseController(w)
	if r.ContentLength != 0 {
		_ = connection.SetReadDeadline(time.Now().Add(p.times.body))
	}
	access := p.authenticate(r)
	if access == nil {
		w.Header().Set("Connection", "close") // only runs keep connections
		unauthorized.respond(w)
		return
	}
	ok, tooMany := access.begin()
	switch {
	case tooMany:
		refuse(http.StatusTooManyRequests, metav1.StatusReasonTooManyRequests, "the run has %d requests under way already: wait for one of them", maxRequests).respond(w)
		return
	case !ok:
		unauthorized.respond(w)
		return
	}
	defer access.done()
	ctx, release := access.bound(r.Context(), connection)
	defer release()
	r = r.WithContext(ctx)
	c, refused := p.admit(w, r, access)
	defer c.drop()
	if refused != nil {
		c.log(p, refused.code)
		refused.respond(w)
		return
	}
	p.send(&stalling{w, connection, p.times.stall}, r, c)
	if access.ctx.Err() == nil {
		_ = connection.SetWriteDeadline(time.Now().Add(p.times.stall)) // for the end of the response
	}
}

var unauthorized = refuse(http.StatusUnauthorized, metav1.StatusReasonUnauthorized,
	"no valid token: use the kubeconfig of this run, which holds until the run ends")

// bound returns a context that ends with a request and with the access. At the end of the access, what is read from the
// caller and written to it ends, too.
func (a *Access) bound(ctx context.Context, connection *http.ResponseController) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	cut := make(chan struct{})
	stop := context.AfterFunc(a.ctx, func() {
		defer close(cut)
		cancel(errEnded)
		_ = connection.SetReadDeadline(time.Now())
		_ = connection.SetWriteDeadline(time.Now())
	})
	return ctx, func() {
		if !stop() {
			<-cut
		}
		cancel(nil)
	}
}

// admit returns the call that a request is, or why it is refused.
func (p *Proxy) admit(w http.ResponseWriter, r *http.Request, access *Access) (*call, *refusal) {
	c := &call{access: access}
	if refused := c.parse(r); refused != nil {
		return c, refused
	}
	if c.verb == "read" {
		return c, nil
	}
	if refused := c.allow(r.Context(), p); refused != nil {
		return c, refused
	}
	if refused := c.hold(r.Context()); refused != nil {
		return c, refused
	}
	if refused := c.read(w, r, p.times.body); refused != nil {
		return c, refused
	}
	return c, c.own(r.Context(), p, r.Method)
}

// stalling is a response whose parts must be taken in time.
type stalling struct {
	http.ResponseWriter
	connection *http.ResponseController
	limit      time.Duration
}

// Unwrap lets an http.ResponseController find the connection.
func (s *stalling) Unwrap() http.ResponseWriter { return s.ResponseWriter }

// Write implements http.ResponseWriter.
func (s *stalling) Write(part []byte) (int, error) {
	_ = s.connection.SetWriteDeadline(time.Now().Add(s.limit))
	return s.ResponseWriter.Write(part)
}
