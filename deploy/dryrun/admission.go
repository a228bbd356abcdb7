package dryrun

import (
	"github.com/operkit/operkit/deploy"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Admission is what a cluster has to say about a write: it may change next, whose fields are
// attributed by then and which it must keep the same object, or refuse it by an error, which
// becomes a *deploy.ForbiddenError of the content. live is nil for a new object and must not be changed. It
// is called while the cluster waits, so it must not call the cluster, and not for deletions.
type Admission func(request AdmissionRequest, live, next *unstructured.Unstructured) error

// AdmissionRequest is what an Admission is asked about.
type AdmissionRequest struct {
	// Ref names the object, Subresource the part of it that is written, such as status; empty: all but that.
	Ref         deploy.Ref
	Subresource string
}

func (c *Cluster) admit(ref deploy.Ref, live, next *unstructured.Unstructured, subresource string) error {
	for _, admission := range c.admission {
		if err := admission(AdmissionRequest{ref, subresource}, live, next); err != nil {
			verb := VerbUpdate
			if live == nil {
				verb = VerbCreate
			}
			plural, _ := guessNames(ref.Kind)
			return &deploy.ForbiddenError{
				Verb: string(verb), Resource: schema.GroupResource{Group: ref.Kind.Group, Resource: plural},
				Namespace: ref.Namespace, Name: ref.Name, Content: true, Err: err,
			}
		}
	}
	return nil
}
