package tls

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/request"
	"github.com/operkit/operkit/status"
	"github.com/operkit/operkit/status/readiness"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// The kinds of cert-manager and trust-manager, which are unstructured here.
const certManagerGroup = "cert-manager.io"

var (
	certificateKind = schema.GroupVersionKind{Group: certManagerGroup, Version: "v1", Kind: "Certificate"}
	issuerKind      = schema.GroupVersionKind{Group: certManagerGroup, Version: "v1", Kind: "Issuer"}
	bundleKind      = schema.GroupVersionKind{Group: "trust.cert-manager.io", Version: "v1alpha1", Kind: "Bundle"}
	configMapKind   = schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}
)

// definitions are the names of the CustomResourceDefinitions, and the programs that bring them.
var definitions = map[schema.GroupKind]struct{ name, program, remedy string }{
	certificateKind.GroupKind(): {"certificates.cert-manager.io", "cert-manager", "install cert-manager, or use tls.Own"},
	issuerKind.GroupKind():      {"issuers.cert-manager.io", "cert-manager", "install cert-manager, or use tls.Own"},
	bundleKind.GroupKind():      {"bundles.trust.cert-manager.io", "trust-manager", "install trust-manager, or leave out tls.TrustBundle"},
}

// installed says which CustomResourceDefinition is missing if err is about that. nil stays nil.
func installed(err error) error {
	var unknown *deploy.KindUnknownError
	if !errors.As(err, &unknown) {
		return err
	}
	if missing, ok := definitions[unknown.Kind.GroupKind()]; ok {
		return fmt.Errorf("CustomResourceDefinition %s: isn't installed, so %s can't be used: %s: %w", missing.name, missing.program, missing.remedy, err)
	}
	return err
}

// ref names an object in the namespace of the resource.
func (r *Requester) ref(kind schema.GroupVersionKind, name string) deploy.Ref {
	return deploy.Ref{Kind: kind, Namespace: r.session.Manager().Namespace(), Name: name}
}

// follow returns an object that the resource doesn't own, nil if there is none.
func (r *Requester) follow(ctx context.Context, ref deploy.Ref) (*unstructured.Unstructured, error) {
	if err := r.session.Follow(ctx, ref); err != nil {
		return nil, err
	}
	obj, err := r.session.Get(ctx, ref)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", ref, err)
	}
	return obj, nil
}

// followSecret is follow for a Secret.
func (r *Requester) followSecret(ctx context.Context, name string) (*stored, error) {
	obj, err := r.follow(ctx, r.ref(secretKind, name))
	if err != nil || obj == nil {
		return nil, err
	}
	return decode(obj, r.session.Manager().KeyDomain())
}

// ready judges an object of cert-manager by the conditions that it has set for the present generation: nil means
// ready.
func (r *Requester) ready(live *unstructured.Unstructured) error {
	result := r.checker.Of(live)
	message := cmp.Or(result.Message, result.Reason)
	switch result.State {
	case readiness.Ready:
		return nil
	case readiness.Failed:
		if at, _, _ := unstructured.NestedString(live.Object, "status", "lastFailureTime"); at != "" {
			message += " (at " + at + ")"
		}
		return &request.Error{Class: status.ErrorRollout, Err: errors.New(message)}
	}
	return request.Precondition("%s", message)
}

// judge is ready for reconcile.ReadyWhen. Of a Certificate that is waited for it also says what its request waits for.
func (r *Requester) judge(ctx context.Context, live *unstructured.Unstructured) error {
	err := r.ready(live)
	if live.GetKind() != certificateKind.Kind || !request.IsWaiting(err) {
		return err
	}
	if why := r.pending(ctx, live); why != "" {
		return request.Precondition("%w: %s", err, why)
	}
	return err
}
