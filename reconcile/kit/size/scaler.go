package size

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile"
	"github.com/operkit/operkit/reconcile/kit/internal/podtemplate"
	"github.com/operkit/operkit/reconcile/request"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// ScaledAnnotation is, after the domain of the operator and a slash, the annotation of workloads that have a declared
// scaler. Its value names the scaler, so that the operator knows later that the scaler is gone.
const ScaledAnnotation = "scaled"

// declared is the value of ScaledAnnotation for a scaler that the option Scaled declares.
const declared = "true"

// scalerOf returns the declared scaler of a workload of c, as ScaledAnnotation has it; empty for none.
func (o settings) scalerOf(c *reconcile.Component, workload *unstructured.Unstructured) string {
	for _, obj := range c.Objects() {
		if scales(obj, workload) {
			return strings.Join([]string{obj.GetAPIVersion(), obj.GetKind(), obj.GetName()}, " ")
		}
	}
	for _, scaled := range o.scaled {
		if scaled(c.Session(), c.Name()) {
			return declared
		}
	}
	return ""
}

// autoscalers are the kinds of autoscalers that declare themselves by their target.
var autoscalers = map[schema.GroupKind]bool{
	{Group: "autoscaling", Kind: "HorizontalPodAutoscaler"}: true,
	{Group: "keda.sh", Kind: "ScaledObject"}:                true,
}

// scales reports whether scaler is an autoscaler whose target is workload.
func scales(scaler, workload *unstructured.Unstructured) bool {
	if !autoscalers[scaler.GroupVersionKind().GroupKind()] {
		return false
	}
	spec, _ := scaler.Object["spec"].(map[string]any)
	target, _ := spec["scaleTargetRef"].(map[string]any)
	name, _ := target["name"].(string)
	kind, _ := target["kind"].(string)
	apiVersion, _ := target["apiVersion"].(string)
	group, _, _ := strings.Cut(cmp.Or(apiVersion, workload.GetAPIVersion()), "/")
	ours, _, _ := strings.Cut(workload.GetAPIVersion(), "/")
	return name != "" && name == workload.GetName() && cmp.Or(kind, "Deployment") == workload.GetKind() && group == ours
}

// owners are the owners of the number of replicas of an object.
type owners struct {
	// us is the operator, scaler is somebody who wrote the scale subresource, other is anybody else.
	us, scaler, other bool
}

// ownersOf returns who owns the number of replicas of live, by its managed fields.
func ownersOf(live *unstructured.Unstructured, fieldManager string) (o owners) {
	if live == nil {
		return o
	}
	metadata, _ := live.Object["metadata"].(map[string]any)
	entries, _ := metadata["managedFields"].([]any)
	for _, item := range entries {
		entry, _ := item.(map[string]any)
		fields, _ := entry["fieldsV1"].(map[string]any)
		spec, _ := fields["f:spec"].(map[string]any)
		if _, owns := spec["f:replicas"]; !owns {
			continue
		}
		name, _ := entry["manager"].(string)
		switch {
		case entry["subresource"] == "scale" && name != fieldManager:
			o.scaler = true
		case name == fieldManager || strings.HasPrefix(name, fieldManager+"-"):
			o.us = true
		default:
			o.other = true
		}
	}
	return o
}

// scaling decides about the number of replicas of one workload.
type scaling struct {
	session  *reconcile.Session
	ref      deploy.Ref
	workload *unstructured.Unstructured
	// wanted is the number of the size or the override, nil for none. zero: the resource itself overrides it by 0.
	wanted *int32
	zero   bool
	// scaler is the declared scaler, empty for none.
	scaler string
}

// set returns the workload with the number of replicas to apply, or without one.
func (z scaling) set(ctx context.Context) (*unstructured.Unstructured, error) {
	live, err := z.metadata(ctx)
	if err != nil {
		return nil, err
	}
	mark, marked, obj := z.session.Manager().KeyDomain()+"/"+ScaledAnnotation, "", z.workload
	if live != nil {
		marked = live.GetAnnotations()[mark]
	}
	if z.scaler == "" {
		if z.scaler, err = z.remaining(ctx, marked); err != nil {
			return nil, err
		}
	}
	if z.scaler != "" {
		obj = podtemplate.With(obj, z.scaler, "metadata", "annotations", mark)
	}
	owners := ownersOf(live, z.session.Manager().FieldManager())
	if z.scaler != "" && !z.zero {
		replicas, err := z.handOver(ctx, owners)
		return podtemplate.With(obj, replicas, "spec", "replicas"), err
	}
	if z.wanted != nil {
		obj = podtemplate.With(obj, int64(*z.wanted), "spec", "replicas")
	}
	_, wanted, _ := unstructured.NestedFieldNoCopy(obj.Object, "spec", "replicas")
	if wanted && owners.scaler && (z.zero || marked != "") {
		return obj, z.takeBack(ctx)
	}
	return obj, nil
}

// remaining returns marked if it names an autoscaler that is still in the cluster, otherwise "". An autoscaler that a
// component doesn't render any more is pruned at the end of the rollout. Its deletion brings the resource to reconcile.
// One that the operator has no right to is in the cluster: it can't be pruned either.
func (z scaling) remaining(ctx context.Context, marked string) (string, error) {
	parts := strings.Fields(marked)
	if len(parts) != 3 {
		return "", nil
	}
	ref := deploy.Ref{Kind: schema.FromAPIVersionAndKind(parts[0], parts[1]), Namespace: z.ref.Namespace, Name: parts[2]}
	if !autoscalers[ref.Kind.GroupKind()] {
		return "", nil
	}
	err := z.session.Own(ctx, ref.Kind)
	if err == nil {
		var found *unstructured.Unstructured
		if found, err = z.session.Get(ctx, ref); found != nil {
			return marked, nil
		}
	}
	if _, unknown := errors.AsType[*deploy.KindUnknownError](err); unknown {
		return "", nil
	}
	if _, forbidden := errors.AsType[*deploy.ForbiddenError](err); forbidden {
		return marked, nil
	}
	return "", err
}

// metadata returns the object in the cluster, nil if there is none. It may have only metadata.
func (z scaling) metadata(ctx context.Context) (*unstructured.Unstructured, error) {
	if z.ref.Name == "" {
		return nil, nil
	}
	if err := z.session.Own(ctx, z.ref.Kind); err != nil {
		return nil, err
	}
	if view, is := z.session.Manager().View().(deploy.PartialView); is {
		if found, _, err := view.Partial(ctx, z.ref); found != nil || err != nil {
			return found, err
		}
	}
	return z.session.Get(ctx, z.ref)
}

// handOver returns the number to apply while a scaler is declared: the present number as long as nobody but the
// operator owns it, because the API server would set a number to 1 that its only owner leaves out; otherwise nil, for
// none. 0 is left out, because a scaler does nothing at 0.
func (z scaling) handOver(ctx context.Context, o owners) (any, error) {
	if !o.us || o.scaler || o.other {
		return nil, nil
	}
	live, err := z.session.Get(ctx, z.ref)
	if live == nil || err != nil {
		return nil, err
	}
	replicas, isNumber, _ := unstructured.NestedInt64(live.Object, "spec", "replicas")
	if !isNumber || replicas == 0 {
		return nil, nil
	}
	return replicas, nil
}

// takeBack removes the scaler's ownership of the number, so that the next apply sets it. Of an object that the operator
// hasn't applied yet, it is taken a moment after that.
func (z scaling) takeBack(ctx context.Context) error {
	if z.session.DryRun() {
		return nil
	}
	taken, err := z.session.Manager().TakeBack(ctx, z.ref, []string{"spec.replicas"})
	for _, field := range taken {
		z.session.Logger().Info("took the number of replicas back from its scaler", "object", z.ref.String(), "scaler", field.Manager)
	}
	if _, foreign := errors.AsType[*deploy.OwnedError](err); foreign {
		z.session.RequeueWithin(time.Second)
		return nil
	}
	return request.Passing(err)
}
