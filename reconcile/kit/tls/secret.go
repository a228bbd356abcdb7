package tls

import (
	"context"
	"encoding/base64"
	"fmt"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile"
	"github.com/operkit/operkit/reconcile/internal/pki"
	"github.com/operkit/operkit/reconcile/request"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var secretKind = schema.GroupVersionKind{Version: "v1", Kind: "Secret"}

// The names of the annotations, after the domain.
const (
	// annotationRenew is set by a user, and annotationRenewed has the value that was followed last.
	annotationRenew   = "renew"
	annotationRenewed = "renewed"
	// annotationIssued has the fingerprint of the certificate that was issued last, and annotationForeign the
	// fingerprint of the certificate that was reported by EventForeign.
	annotationIssued  = "issued-certificate"
	annotationForeign = "foreign-certificate"
	// annotationSpread has the time pki.Authority.Spread. annotationBegan has the time at which the stage of the
	// replacement of the CA began, until all programs have what it is about, or EventWaits was recorded.
	annotationSpread = "tls-spread"
	annotationBegan  = "tls-began"
	// annotationDigest is podhash.DigestAnnotation: what counts in place of the content.
	annotationDigest = "dependency-digest"
)

// stored is a Secret as it was read.
type stored struct {
	data        map[string][]byte
	annotations map[string]string
	domain      string
}

// read returns a Secret, nil if there is none.
func read(ctx context.Context, s *reconcile.Session, name string) (*stored, error) {
	if err := s.Own(ctx, secretKind); err != nil {
		return nil, err
	}
	ref := deploy.Ref{Kind: secretKind, Namespace: s.Manager().Namespace(), Name: name}
	obj, err := s.Get(ctx, ref)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", ref, err)
	}
	if obj == nil {
		return nil, nil
	}
	return decode(obj, s.Manager().KeyDomain())
}

// decode never repeats a value in its error.
func decode(obj *unstructured.Unstructured, domain string) (*stored, error) {
	read := &stored{data: map[string][]byte{}, annotations: obj.GetAnnotations(), domain: domain}
	data, _ := obj.Object["data"].(map[string]any)
	for key, value := range data {
		text, isText := value.(string)
		decoded, err := base64.StdEncoding.DecodeString(text)
		if err != nil || !isText {
			return nil, request.Configuration("%s: data.%s isn't base64", deploy.RefOf(obj), key)
		}
		read.data[key] = decoded
	}
	return read, nil
}

// annotation returns the value of an annotation of ours.
func (s *stored) annotation(name string) string {
	if s == nil {
		return ""
	}
	return s.annotations[s.domain+"/"+name]
}

// asked reports whether a user asks for a new certificate.
func (s *stored) asked() bool {
	renew := s.annotation(annotationRenew)
	return renew != "" && renew != s.annotation(annotationRenewed)
}

// encode returns a Secret of the type kubernetes.io/tls. Empty annotations are left out.
func encode(name string, data map[string][]byte, annotations map[string]string, domain string) *unstructured.Unstructured {
	obj := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "Secret", "type": "kubernetes.io/tls", "data": encoded(data),
		"metadata": map[string]any{"name": name},
	}}
	mark(obj, annotations, domain)
	return obj
}

// mark sets annotations of ours, and removes those that are empty. The others stay.
func mark(obj *unstructured.Unstructured, annotations map[string]string, domain string) {
	marks := obj.GetAnnotations()
	if marks == nil {
		marks = map[string]string{}
	}
	for key, value := range annotations {
		if marks[domain+"/"+key] = value; value == "" {
			delete(marks, domain+"/"+key)
		}
	}
	if len(marks) > 0 || obj.GetAnnotations() != nil {
		obj.SetAnnotations(marks)
	}
}

// encoded returns data in the form of a Secret.
func encoded(data map[string][]byte) map[string]any {
	content := map[string]any{}
	for key, value := range data {
		content[key] = base64.StdEncoding.EncodeToString(value)
	}
	return content
}

// placeholder reports whether a dry run has rendered the Secret.
func (s *stored) placeholder() bool {
	return string(s.data[pki.KeyKey]) == reconcile.GeneratedPlaceholder
}

// placeholders is what a dry run renders instead of a new certificate and key.
func placeholders(keys ...string) map[string][]byte {
	data := map[string][]byte{}
	for _, key := range keys {
		data[key] = []byte(reconcile.GeneratedPlaceholder)
	}
	return data
}
