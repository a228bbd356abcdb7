package tls

import (
	"cmp"
	"context"
	"fmt"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile"
	"github.com/operkit/operkit/reconcile/internal/pki"
	"github.com/operkit/operkit/reconcile/request"
	"github.com/operkit/operkit/status"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// trust is what is known about the CAs to trust.
type trust struct {
	// found: a CA, or a certificate, is there.
	found bool
	// unnamed: a certificate is there whose issuer doesn't name its CA.
	unnamed bool
	// present are the CAs in Secrets, as PEM, and bundle what the ConfigMap has, or is to have.
	present [][]byte
	bundle  []byte
	// lacking is why the Bundle of trust-manager can't be used yet; nil if it can be used.
	lacking error
}

func (t *trust) add(cas []byte) { t.present = append(t.present, cas) }

// findTrust completes trust when the Secrets of all certificates were read.
func (r *Requester) findTrust(ctx context.Context) error {
	if r.options.bundle != nil {
		r.trust.found = true
		return r.findBundle(ctx, *r.options.bundle)
	}
	if r.options.issuer == nil {
		if err := r.findAuthority(ctx); err != nil {
			return err
		}
	} else if len(r.requests.Objects()) == 0 {
		r.trust.found = true // no certificate is asked for, so that no CA will be found
	}
	if r.trust.unnamed && len(r.trust.present) == 0 {
		return nil // former CAs alone would have programs refuse the present certificates
	}
	former, err := r.former(ctx)
	if err != nil {
		return err
	}
	now := r.session.Now()
	bundle, until := pki.Trust(now, append([][]byte{former}, r.trust.present...)...)
	r.trust.bundle = bundle
	if !until.IsZero() {
		r.session.RequeueWithin(until.Sub(now))
	}
	return nil
}

// former returns the CAs in the ConfigMap.
func (r *Requester) former(ctx context.Context) ([]byte, error) {
	if err := r.session.Own(ctx, configMapKind); err != nil {
		return nil, err
	}
	ref := r.ref(configMapKind, r.Bundle())
	obj, err := r.session.Get(ctx, ref)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", ref, err)
	}
	return contentOf(obj, pki.KeyBundle), nil
}

// findBundle reads a Bundle of trust-manager and its target, a ConfigMap of the same name.
func (r *Requester) findBundle(ctx context.Context, name string) error {
	obj, err := r.follow(ctx, deploy.Ref{Kind: bundleKind, Name: name})
	if err != nil {
		return installed(err)
	}
	target, err := r.follow(ctx, r.ref(configMapKind, name))
	if err != nil {
		return err
	}
	r.trust.bundle, r.trust.lacking = synced(name, obj, target)
	return nil
}

// synced returns the content of the target of a Bundle, or why it can't be used yet.
func synced(name string, obj, target *unstructured.Unstructured) ([]byte, error) {
	if obj == nil {
		return nil, request.Precondition("Bundle %s isn't there: make it, or correct tls.TrustBundle", name)
	}
	key, _, _ := unstructured.NestedString(obj.Object, "spec", "target", "configMap", "key")
	if key == "" {
		return nil, request.Configuration("Bundle %s: spec.target.configMap.key isn't set: only a ConfigMap can be used as the target", name)
	}
	state, found := status.Conditions(obj).Get("Synced")
	switch {
	case found && state.ObservedGeneration != 0 && state.ObservedGeneration != obj.GetGeneration():
		return nil, request.Precondition("Bundle %s: the condition Synced is about an earlier generation: trust-manager hasn't handled the change yet", name)
	case state.Status != metav1.ConditionTrue:
		return nil, request.Precondition("Bundle %s: the condition Synced isn't True: %s", name, cmp.Or(state.Message, "trust-manager hasn't handled it yet"))
	}
	content := contentOf(target, key)
	if len(content) == 0 {
		return nil, request.Precondition("ConfigMap %s has no %s yet, although the Bundle is synced: does its namespaceSelector select the namespace?", name, key)
	}
	return content, nil
}

// contentOf returns a value of a ConfigMap, which may be nil.
func contentOf(configMap *unstructured.Unstructured, key string) []byte {
	if configMap == nil {
		return nil
	}
	text, _, _ := unstructured.NestedString(configMap.Object, "data", key)
	return []byte(text)
}

// bundle is the component with the CAs to trust.
type bundle struct{ *Requester }

// Build implements reconcile.Builder.
func (b bundle) Build(_ context.Context, s *reconcile.Session, c *reconcile.Component) error {
	content := b.trust.bundle
	switch {
	case b.options.bundle != nil && s.DryRun():
		return nil
	case b.options.bundle != nil:
		return b.trust.lacking
	case len(content) == 0 && s.DryRun():
		content = []byte(reconcile.GeneratedPlaceholder)
	case len(content) == 0:
		return nil // the issuer names no CA
	}
	c.Add("bundle", map[string]any{"apiVersion": "v1", "kind": "ConfigMap",
		"metadata": map[string]any{"name": b.Bundle()}, "data": map[string]any{pki.KeyBundle: string(content)}})
	return nil
}
