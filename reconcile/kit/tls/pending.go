package tls

import (
	"cmp"
	"context"
	"slices"
	"strconv"

	"github.com/operkit/operkit/status"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var requestKind = schema.GroupVersionKind{Group: certManagerGroup, Version: "v1", Kind: "CertificateRequest"}

// pending says what the present request of a Certificate waits for, such as an issuer that isn't there, which the
// Certificate itself doesn't say. It is empty if there is no request, or if the operator may not read requests.
func (r *Requester) pending(ctx context.Context, certificate *unstructured.Unstructured) string {
	all, err := r.session.List(ctx, requestKind, certificate.GetNamespace(), nil)
	if err != nil {
		return "" // it is only for the message
	}
	owned := slices.DeleteFunc(slices.Clone(all), func(obj *unstructured.Unstructured) bool {
		for _, owner := range obj.GetOwnerReferences() {
			if owner.UID == certificate.GetUID() {
				return false
			}
		}
		return true
	})
	if len(owned) == 0 {
		return ""
	}
	latest := slices.MaxFunc(owned, func(a, b *unstructured.Unstructured) int { return cmp.Compare(revision(a), revision(b)) })
	return "CertificateRequest " + latest.GetName() + ": " + waiting(latest)
}

// revision returns the number of a request of a Certificate.
func revision(obj *unstructured.Unstructured) int {
	number, _ := strconv.Atoi(obj.GetAnnotations()["cert-manager.io/certificate-revision"])
	return number
}

// waiting says what a request waits for.
func waiting(obj *unstructured.Unstructured) string {
	ready, _ := status.Conditions(obj).Get("Ready")
	approved, _ := status.Conditions(obj).Get("Approved")
	switch {
	case ready.Message != "":
		return ready.Message
	case approved.Status != metav1.ConditionTrue:
		return "it isn't approved yet"
	}
	return "its issuer hasn't handled it yet"
}
