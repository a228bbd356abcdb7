package dryrun

import (
	"fmt"

	"github.com/operkit/operkit/deploy"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/managedfields"
)

// seed stores the first objects. Their uids are claimed before any is made.
func (c *Cluster) seed(seeds []*unstructured.Unstructured) error {
	uids := map[types.UID]deploy.Ref{}
	for i, obj := range seeds {
		if obj == nil || obj.Object == nil {
			return &deploy.InvalidManifestError{Reason: fmt.Sprintf("object %d of the cluster is nil", i+1)}
		}
		ref, uid := deploy.RefOf(obj), obj.GetUID()
		if other, taken := uids[uid]; taken && uid != "" {
			return &deploy.InvalidManifestError{Ref: ref, Reason: fmt.Sprintf("its uid %s is that of %s too", uid, other)}
		}
		uids[uid] = ref
		c.storage.claimUID(uid)
	}
	for _, obj := range seeds {
		if err := c.seedOne(obj); err != nil {
			return err
		}
	}
	return nil
}

func (c *Cluster) seedOne(obj *unstructured.Unstructured) error {
	ref := deploy.RefOf(obj)
	invalid := func(reason string) error { return &deploy.InvalidManifestError{Ref: ref, Reason: reason} }
	switch {
	case ref.Kind.Kind == "":
		return invalid("kind is missing")
	case ref.Kind.Version == "":
		return invalid("apiVersion is missing")
	case obj.IsList():
		return invalid("it is a list: pass its items one by one")
	case c.storage.get(addressOf(ref)) != nil:
		return invalid("it is given twice")
	case obj.GetDeletionTimestamp() != nil && len(obj.GetFinalizers()) == 0:
		return invalid("it has a deletionTimestamp but no finalizers: such an object is gone")
	}
	next, err := asSent(obj)
	if err != nil {
		return invalid(err.Error())
	}
	metadata := metadataOf(next)
	if next.GetUID() == "" {
		metadata["uid"] = string(c.storage.nextUID())
		c.storage.claimUID(next.GetUID())
	}
	if _, ok := metadata["creationTimestamp"].(string); !ok {
		metadata["creationTimestamp"] = c.timestamp()
	}
	if next.GetGeneration() == 0 {
		metadata["generation"] = int64(1)
	}
	tidy(metadata)
	if err := c.validate(ref, next, nil); err != nil {
		return invalid(err.Error())
	}
	if err := managedfields.ValidateManagedFields(next.GetManagedFields()); err != nil {
		return invalid("metadata.managedFields: " + err.Error())
	}
	c.storage.put(addressOf(ref), next)
	return nil
}
