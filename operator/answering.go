package operator

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/operkit/operkit/operator/config"
	"github.com/operkit/operkit/operator/internal/settings"
	"github.com/operkit/operkit/operator/internal/webhooks"
	"github.com/operkit/operkit/reconcile/admission"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// lingering is how long a process in a Pod goes on answering after it was asked to stop: until then the API server may
// still call it, because it hears later that the Pod ends.
const lingering = 5 * time.Second

// answering is what this process answers the API server, if it does.
type answering struct {
	target      webhooks.Target
	certificate credential
}

// answer serves webhooks and conversions, on every replica, until ctx ends. asked ends when the process is asked to
// stop.
func (r *runner) answer(asked, ctx context.Context) (wait func(), err error) {
	if !r.operator.webhooks.Serves() {
		return nil, nil
	}
	e := endpoint{key: "webhooks.address", address: r.webhookAddress()}
	if e.address == config.NoAddress {
		r.logger.Warn("webhooks and conversions aren't served", "set", "webhooks.url")
		return nil, nil
	}
	r.operator.webhooks.KeyDomain(r.operator.domain())
	target, err := r.webhookTarget()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	waits := context.AfterFunc(asked, cancel)
	certificate, err := r.newCredential(ctx, target)
	waits()
	if err != nil {
		cancel()
		return nil, err
	}
	e.handler, e.tls = drain(asked, r.operator.webhooks.Handler(r.logger, r.metrics.Webhook)), certificate.server
	serve, err := listen([]endpoint{e}, r.operator.inPod(), r.logger)
	if err != nil {
		cancel()
		certificate.close()
		return nil, err
	}
	r.answers = &answering{target, certificate}
	r.metrics.Certificate(certificate.expires)
	serving, stop := context.WithCancel(context.WithoutCancel(ctx))
	var running sync.WaitGroup
	running.Go(func() { serve(serving) })
	running.Go(func() {
		defer stop()
		r.linger(asked, ctx)
	})
	return func() { running.Wait(); cancel(); certificate.close() }, nil
}

// linger returns when ctx has ended, and in a Pod also the time lingering after asked has.
func (r *runner) linger(asked, ctx context.Context) {
	select {
	case <-asked.Done():
	case <-ctx.Done():
	}
	late := time.Now().Add(lingering)
	<-ctx.Done()
	if r.operator.inPod() {
		time.Sleep(time.Until(late))
	}
}

// drain asks clients to close their connections when ctx has ended. A connection that the server closes may carry a
// request at that moment, which the API server doesn't send again.
func drain(ctx context.Context, next http.Handler) http.Handler {
	return http.HandlerFunc(func(to http.ResponseWriter, from *http.Request) {
		if ctx.Err() != nil {
			to.Header().Set("Connection", "close")
		}
		next.ServeHTTP(to, from)
	})
}

// webhookAddress returns the address of webhooks, off if they can't be reached.
func (r *runner) webhookAddress() string {
	w := r.Webhooks
	switch {
	case w.Address != config.AutoAddress:
		return w.Address
	case w.URL != "":
		port := "443"
		if u, err := url.Parse(w.URL); err == nil && u.Port() != "" {
			port = u.Port()
		}
		return ":" + port
	case r.operator.inPod():
		return ":9443"
	}
	return config.NoAddress
}

// webhookTarget returns where the API server reaches the webhooks, still without CAs.
func (r *runner) webhookTarget() (webhooks.Target, error) {
	target := webhooks.Target{InjectFrom: r.Webhooks.InjectCAFrom, Namespace: r.election.Namespace, Own: r.ownKinds()}
	if target.URL = r.Webhooks.URL; target.URL != "" {
		return target, nil
	}
	name, port, err := settings.ParseService(r.Webhooks.Service, r.operator.name)
	if err != nil {
		return target, fmt.Errorf("webhooks.service: %w", err)
	}
	if target.Namespace == "" {
		return target, fmt.Errorf("webhooks.service: outside of a Pod the Service %s has no namespace: set webhooks.url, or leader-election.namespace", name)
	}
	target.Target = admission.Target{Service: &admissionregistrationv1.ServiceReference{Namespace: target.Namespace, Name: name, Port: &port}}
	return target, nil
}

// ownKinds are the kinds that this operator controls or converts.
func (r *runner) ownKinds() (kinds []schema.GroupKind) {
	for _, c := range r.operator.controllers {
		kinds = append(kinds, c.kind.GroupKind())
	}
	return append(kinds, r.operator.webhooks.Converted()...)
}

// webhookHosts are the names under which the API server calls.
func webhookHosts(target webhooks.Target) []string {
	if s := target.Service; s != nil {
		name := s.Name + "." + s.Namespace + ".svc"
		return []string{name, name + ".cluster.local"}
	}
	u, err := url.Parse(target.URL)
	if err != nil { // the settings have checked it
		return nil
	}
	return []string{u.Hostname()}
}
