package main

import (
	"context"
	"fmt"
	"maps"
	"strconv"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
	appsv1ac "k8s.io/client-go/applyconfigurations/apps/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	metav1ac "k8s.io/client-go/applyconfigurations/meta/v1"
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

// fieldOwner is what the API server knows the operator's fields by.
const fieldOwner = client.FieldOwner("cr-apply")

// changed passes changes of the fields that the operator applies. It drops changes of the status and of annotations by
// the Deployment controller: five applies are too much for these.
var changed = predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
	return e.ObjectOld.GetGeneration() != e.ObjectNew.GetGeneration() ||
		!maps.Equal(e.ObjectOld.GetLabels(), e.ObjectNew.GetLabels()) ||
		!equality.Semantic.DeepEqual(e.ObjectOld.GetOwnerReferences(), e.ObjectNew.GetOwnerReferences())
}}

type bundleReconciler struct {
	client.Client
}

func (r *bundleReconciler) setupWithManager(mgr ctrl.Manager) error {
	b := ctrl.NewControllerManagedBy(mgr).
		// A status change, which is the operator's own, is no reason to reconcile.
		For(&benchv1.Bundle{}, builder.WithPredicates(predicate.GenerationChangedPredicate{})).
		// Children are applied and never read: the operator only needs to know that one has changed.
		Owns(&corev1.ServiceAccount{}, builder.OnlyMetadata).
		Owns(&corev1.ConfigMap{}, builder.OnlyMetadata).
		Owns(&corev1.Service{}, builder.OnlyMetadata).
		Owns(&appsv1.Deployment{}, builder.OnlyMetadata, builder.WithPredicates(changed)).
		WithOptions(controller.Options{MaxConcurrentReconciles: 8})
	if current.Token {
		// Full objects, since a read only waits for writes of the same representation.
		b.Owns(&corev1.Secret{})
	}
	return b.Complete(r)
}

// Reconcile applies the children of one Bundle and then sets the condition Ready.
func (r *bundleReconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	bundle := &benchv1.Bundle{}
	if err := r.Get(ctx, req.NamespacedName, bundle); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if !bundle.DeletionTimestamp.IsZero() {
		return ctrl.Result{}, nil
	}
	for _, child := range childrenOf(bundle) {
		// Children are never read, so no read has to wait for a cache, which would have to be created first.
		err := r.Apply(ctx, child, fieldOwner, client.ForceOwnership, client.DisableReadYourWritesConsistency)
		if err != nil {
			return ctrl.Result{}, fmt.Errorf("Bundle %s: apply %T: %w", req, child, err)
		}
	}
	if current.Token {
		if err := r.createToken(ctx, bundle); err != nil {
			return ctrl.Result{}, err
		}
	}
	return ctrl.Result{}, r.setReady(ctx, bundle)
}

// createToken creates the Secret of a Bundle that has none yet, since an object without a name can't be applied. It
// looks for an existing one by its labels and its owner.
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
	return r.Create(ctx, secret, fieldOwner)
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
	return client.IgnoreNotFound(r.Status().Patch(ctx, bundle, client.MergeFrom(before), fieldOwner))
}

func childrenOf(bundle *benchv1.Bundle) []runtime.ApplyConfiguration {
	size := strconv.FormatInt(int64(bundle.Spec.Size), 10)
	children := []runtime.ApplyConfiguration{
		corev1ac.ServiceAccount(bundle.Name, bundle.Namespace).
			WithLabels(labelsOf(bundle)).
			WithOwnerReferences(controllerOf(bundle)),
		configMap(bundle, "message", bundle.Spec.Message),
	}
	if current.Size {
		children = append(children, configMap(bundle, "size", size))
	}
	return append(children, service(bundle), deployment(bundle, size))
}

func configMap(bundle *benchv1.Bundle, key, value string) *corev1ac.ConfigMapApplyConfiguration {
	return corev1ac.ConfigMap(bundle.Name+"-"+key, bundle.Namespace).
		WithLabels(labelsOf(bundle)).
		WithOwnerReferences(controllerOf(bundle)).
		WithData(map[string]string{key: value})
}

func service(bundle *benchv1.Bundle) *corev1ac.ServiceApplyConfiguration {
	return corev1ac.Service(bundle.Name, bundle.Namespace).
		WithLabels(labelsOf(bundle)).
		WithOwnerReferences(controllerOf(bundle)).
		WithSpec(corev1ac.ServiceSpec().
			WithSelector(selectorOf(bundle)).
			WithPorts(corev1ac.ServicePort().WithName("http").WithPort(80).WithTargetPort(intstr.FromString("http"))))
}

func deployment(bundle *benchv1.Bundle, size string) *appsv1ac.DeploymentApplyConfiguration {
	container := corev1ac.Container().
		WithName("web").
		WithImage("registry.example/bundle:1.0").
		WithPorts(corev1ac.ContainerPort().WithName("http").WithContainerPort(8080)).
		WithResources(corev1ac.ResourceRequirements().WithRequests(corev1.ResourceList{
			corev1.ResourceCPU:    resource.MustParse(current.CPU),
			corev1.ResourceMemory: resource.MustParse("64Mi"),
		}))
	if current.Size {
		container.WithEnv(corev1ac.EnvVar().WithName("SIZE").WithValue(size))
	}
	if current.Name {
		container.WithEnv(corev1ac.EnvVar().WithName("NAME").WithValue(bundle.Name))
	}
	pod := corev1ac.PodSpec().WithServiceAccountName(bundle.Name).WithContainers(container)
	return appsv1ac.Deployment(bundle.Name, bundle.Namespace).
		WithLabels(labelsOf(bundle)).
		WithOwnerReferences(controllerOf(bundle)).
		WithSpec(appsv1ac.DeploymentSpec().
			WithReplicas(0).
			WithSelector(metav1ac.LabelSelector().WithMatchLabels(selectorOf(bundle))).
			WithTemplate(corev1ac.PodTemplateSpec().WithLabels(labelsOf(bundle)).WithSpec(pod)))
}

func controllerOf(bundle *benchv1.Bundle) *metav1ac.OwnerReferenceApplyConfiguration {
	return metav1ac.OwnerReference().
		WithAPIVersion(benchv1.GroupVersion.String()).
		WithKind(benchv1.BundleKind.Kind).
		WithName(bundle.Name).
		WithUID(bundle.UID).
		WithController(true).
		WithBlockOwnerDeletion(true)
}

func selectorOf(bundle *benchv1.Bundle) map[string]string {
	return map[string]string{"app.kubernetes.io/instance": bundle.Name}
}

func labelsOf(bundle *benchv1.Bundle) map[string]string {
	return map[string]string{"app.kubernetes.io/name": "bundle", "app.kubernetes.io/instance": bundle.Name}
}
