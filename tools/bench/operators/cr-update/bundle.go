package main

import (
	"context"
	"fmt"
	"maps"
	"strconv"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	benchv1 "github.com/operkit/operkit/tools/bench/api/v1"
	"github.com/operkit/operkit/tools/bench/release"
)

// current is the release that runs.
var current = release.Current()

// conflictDelay gives the cache time to see the write that has caused a conflict.
const conflictDelay = 50 * time.Millisecond

// changed passes changes of a child that may need a repair, and drops what controllers write into its status and
// annotations. It also drops new children: the operator has created them, or they come with the first list, which
// brings all Bundles, too.
var changed = predicate.Funcs{
	CreateFunc: func(event.CreateEvent) bool { return false },
	UpdateFunc: func(e event.UpdateEvent) bool {
		return e.ObjectNew.GetGeneration() == 0 || e.ObjectOld.GetGeneration() != e.ObjectNew.GetGeneration() ||
			!maps.Equal(e.ObjectOld.GetLabels(), e.ObjectNew.GetLabels()) ||
			!equality.Semantic.DeepEqual(e.ObjectOld.GetOwnerReferences(), e.ObjectNew.GetOwnerReferences())
	},
}

type bundleReconciler struct {
	client.Client
}

func (r *bundleReconciler) setupWithManager(mgr ctrl.Manager) error {
	b := ctrl.NewControllerManagedBy(mgr).
		// A status change, which is the operator's own, is no reason to reconcile.
		For(&benchv1.Bundle{}, builder.WithPredicates(predicate.GenerationChangedPredicate{})).
		Owns(&corev1.ServiceAccount{}, builder.WithPredicates(changed)).
		Owns(&corev1.ConfigMap{}, builder.WithPredicates(changed)).
		Owns(&corev1.Service{}, builder.WithPredicates(changed)).
		Owns(&appsv1.Deployment{}, builder.WithPredicates(changed)).
		WithOptions(controller.Options{MaxConcurrentReconciles: 8})
	if current.Token {
		b.Owns(&corev1.Secret{})
	}
	return b.Complete(r)
}

// Reconcile updates the children of one Bundle and then its condition Ready.
func (r *bundleReconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	bundle := &benchv1.Bundle{}
	if err := r.Get(ctx, req.NamespacedName, bundle); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if !bundle.DeletionTimestamp.IsZero() {
		return ctrl.Result{}, nil
	}
	for _, c := range childrenOf(bundle) {
		err := r.createOrUpdate(ctx, bundle, c)
		switch {
		case apierrors.IsConflict(err), apierrors.IsAlreadyExists(err):
			return ctrl.Result{RequeueAfter: conflictDelay}, nil
		case err != nil:
			return ctrl.Result{}, err
		}
	}
	if current.Token {
		if err := r.createToken(ctx, bundle); err != nil {
			return ctrl.Result{}, err
		}
	}
	return ctrl.Result{}, r.setReady(ctx, bundle)
}

// createToken creates the Secret of a Bundle that has none yet. The name is generated, so an existing Secret is found
// by its labels and its owner.
func (r *bundleReconciler) createToken(ctx context.Context, bundle *benchv1.Bundle) error {
	var secrets corev1.SecretList
	if err := r.List(ctx, &secrets, client.InNamespace(bundle.Namespace), client.MatchingLabels(labelsOf(bundle))); err != nil {
		return fmt.Errorf("Secrets of %s: %w", bundle.Name, err)
	}
	for i := range secrets.Items {
		if metav1.IsControlledBy(&secrets.Items[i], bundle) {
			return nil
		}
	}
	secret := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: bundle.Namespace, GenerateName: bundle.Name + "-token-", Labels: labelsOf(bundle)},
		StringData: map[string]string{"token": bundle.Name},
	}
	if err := controllerutil.SetControllerReference(bundle, secret, r.Scheme()); err != nil {
		return err
	}
	return r.Create(ctx, secret)
}

func (r *bundleReconciler) createOrUpdate(ctx context.Context, bundle *benchv1.Bundle, c child) error {
	_, err := controllerutil.CreateOrUpdate(ctx, r.Client, c.object, func() error {
		labels := c.object.GetLabels()
		set(&labels, labelsOf(bundle))
		c.object.SetLabels(labels)
		c.mutate()
		return controllerutil.SetControllerReference(bundle, c.object, r.Scheme())
	})
	if err != nil {
		return fmt.Errorf("%T %s: %w", c.object, client.ObjectKeyFromObject(c.object), err)
	}
	return nil
}

// setReady writes the condition Ready when it has changed. A merge patch can't conflict with an edit of the spec, and
// the condition names the generation that it is about.
func (r *bundleReconciler) setReady(ctx context.Context, bundle *benchv1.Bundle) error {
	before := bundle.DeepCopy()
	written := meta.SetStatusCondition(&bundle.Status.Conditions, metav1.Condition{
		Type:               benchv1.ConditionReady,
		Status:             metav1.ConditionTrue,
		Reason:             "Applied",
		ObservedGeneration: bundle.Generation,
	})
	if !written {
		return nil
	}
	return client.IgnoreNotFound(r.Status().Patch(ctx, bundle, client.MergeFrom(before)))
}

// child is an object with only its name, and a function that sets the wanted fields in it.
type child struct {
	object client.Object
	mutate func()
}

func childrenOf(bundle *benchv1.Bundle) []child {
	children := []child{
		{&corev1.ServiceAccount{ObjectMeta: named(bundle, "")}, func() {}},
		configMap(bundle, "message", bundle.Spec.Message),
	}
	if current.Size {
		children = append(children, configMap(bundle, "size", size(bundle)))
	}
	return append(children, service(bundle), deployment(bundle))
}

func configMap(bundle *benchv1.Bundle, key, value string) child {
	object := &corev1.ConfigMap{ObjectMeta: named(bundle, "-"+key)}
	return child{object, func() { set(&object.Data, map[string]string{key: value}) }}
}

func service(bundle *benchv1.Bundle) child {
	object := &corev1.Service{ObjectMeta: named(bundle, "")}
	return child{object, func() {
		object.Spec.Selector = selectorOf(bundle)
		port := entry(&object.Spec.Ports, "http", func(p *corev1.ServicePort) *string { return &p.Name })
		port.Port = 80
		port.TargetPort = intstr.FromString("http")
	}}
}

func deployment(bundle *benchv1.Bundle) child {
	object := &appsv1.Deployment{ObjectMeta: named(bundle, "")}
	return child{object, func() {
		object.Spec.Replicas = new(int32(0))
		if object.Spec.Selector == nil { // the selector is immutable
			object.Spec.Selector = &metav1.LabelSelector{MatchLabels: selectorOf(bundle)}
		}
		template := &object.Spec.Template
		set(&template.Labels, labelsOf(bundle))
		template.Spec.ServiceAccountName = bundle.Name
		mutateContainer(entry(&template.Spec.Containers, "web", func(c *corev1.Container) *string { return &c.Name }), bundle)
	}}
}

func mutateContainer(container *corev1.Container, bundle *benchv1.Bundle) {
	container.Image = "registry.example/bundle:1.0"
	entry(&container.Ports, "http", func(p *corev1.ContainerPort) *string { return &p.Name }).ContainerPort = 8080
	if current.Size {
		mutateVariable(container, "SIZE", size(bundle))
	}
	if current.Name {
		mutateVariable(container, "NAME", bundle.Name)
	}
	set(&container.Resources.Requests, corev1.ResourceList{
		corev1.ResourceCPU:    resource.MustParse(current.CPU),
		corev1.ResourceMemory: resource.MustParse("64Mi"),
	})
}

func mutateVariable(container *corev1.Container, name, value string) {
	env := entry(&container.Env, name, func(e *corev1.EnvVar) *string { return &e.Name })
	env.Value, env.ValueFrom = value, nil
}

func named(bundle *benchv1.Bundle, suffix string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: bundle.Namespace, Name: bundle.Name + suffix}
}

func size(bundle *benchv1.Bundle) string { return strconv.FormatInt(int64(bundle.Spec.Size), 10) }

func selectorOf(bundle *benchv1.Bundle) map[string]string {
	return map[string]string{"app.kubernetes.io/instance": bundle.Name}
}

func labelsOf(bundle *benchv1.Bundle) map[string]string {
	return map[string]string{"app.kubernetes.io/name": "bundle", "app.kubernetes.io/instance": bundle.Name}
}

// set sets keys of a map and doesn't change other keys.
func set[M ~map[K]V, K comparable, V any](target *M, wanted M) {
	if *target == nil {
		*target = wanted
		return
	}
	maps.Copy(*target, wanted)
}

// entry returns the element of a list with that name, and adds it if it doesn't exist.
func entry[T any](list *[]T, name string, nameOf func(*T) *string) *T {
	for i := range *list {
		if *nameOf(&(*list)[i]) == name {
			return &(*list)[i]
		}
	}
	var added T
	*nameOf(&added) = name
	*list = append(*list, added)
	return &(*list)[len(*list)-1]
}
