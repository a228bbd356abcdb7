package main

import (
	"strings"
	"testing"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/bystander"
	v1 "github.com/operkit/operkit/examples/catset/api/v1"
	"github.com/operkit/operkit/reconcile/desired"
	"github.com/operkit/operkit/reconcile/reconciletest"
	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

// moved returns the controller of sets that metacontroller has managed until now: it continues under the finalizer of
// the CompositeController.
func moved() *desired.Controller[v1.CatSet] {
	return desired.New(v1.CatSetKind, cats{},
		desired.FinalizerName("metacontroller.io/compositecontroller-catset-controller"),
		desired.Child(podKind, desired.RollingRecreate, desired.Healthy(string(corev1.PodReady), metav1.ConditionTrue)),
		desired.Child(serviceKind, desired.InPlace),
		desired.Child(claimKind, desired.OnDelete))
}

// Children that another program has created for a set are its children if they name it as their controller. Pods that
// the operator would make otherwise are rolled, and others are only changed.
func TestCatSetMoves(t *testing.T) {
	t.Parallel()
	takeOver := reconciletest.Manager(deploy.TakeOverFrom("metacontroller"))
	for _, row := range []struct {
		reason, subdomain string
		replaced          bool
		options           []reconciletest.Option
		former            string
	}{
		{"the same Pods stay, and fields of the former operator are taken over", "nginx", false, []reconciletest.Option{takeOver}, ""},
		{"its fields stay unless they are", "nginx", false, nil, "yes"},
		{"other Pods are rolled", "cats", true, nil, ""},
	} {
		t.Run(row.reason+", in memory", func(t *testing.T) {
			t.Parallel()
			h := reconciletest.Drive(t, moved(), append(row.options, reconciletest.Definitions("config/crd"), reconciletest.Namespace("default"))...)
			move(t, h, "default", row.subdomain, row.replaced, row.former)
		})
		t.Run(row.reason, func(t *testing.T) {
			t.Parallel()
			h, namespace := onAPIServer(t, moved(), row.options...)
			move(t, h, namespace, row.subdomain, row.replaced, row.former)
		})
	}
}

// move has metacontroller's objects taken over, and then deletes the set. replaced: the Pods are other ones afterwards.
// former is the value of their label "former".
func move(t *testing.T, h *reconciletest.Harness, namespace, subdomain string, replaced bool, former string) {
	t.Helper()
	h.Apply(strings.Replace(sample(t), "namespace: default", "namespace: "+namespace, 1))
	h.Edit(set, func(obj *unstructured.Unstructured) {
		obj.SetFinalizers([]string{"metacontroller.io/compositecontroller-catset-controller"})
	})
	metacontroller := bystander.New(t, h.Cluster(), namespace, "metacontroller")
	uids := map[string]types.UID{}
	for _, number := range []string{"0", "1", "2"} {
		fill := strings.NewReplacer("UID", string(h.Get(set).GetUID()), "SUBDOMAIN", subdomain, "NUMBER", number)
		metacontroller.CreateYAML(fill.Replace(formerClaim))
		pod := metacontroller.CreateYAML(fill.Replace(formerPod))
		uids[pod.GetName()] = pod.GetUID()
	}
	runUntilOver(h)
	for name, uid := range uids {
		pod := h.Get("Pod " + name)
		assert.Equal(t, replaced, pod.GetUID() != uid, name)
		assert.Equal(t, former, pod.GetLabels()["former"])
		assert.Equal(t, "nginx", pod.GetLabels()[setLabel])
	}
	assert.NotContains(t, strings.Join(writes(h), "\n"), "PersistentVolumeClaim", "claims are never changed")
	assert.Equal(t, "3 ready 3 updated 3 Complete", counts(h))
	h.RunUntilSettled()
	h.Writes(0)
	assert.Len(t, h.Get(set).GetFinalizers(), 1)
	h.Delete(set)
	runUntilOver(h)
	h.Gone(set, "Pod nginx-0")
}

// What metacontroller has made of the sample by its catset.
const (
	formerPod = `
apiVersion: v1
kind: Pod
metadata:
  name: nginx-NUMBER
  labels: {app: nginx, former: 'yes'}
  ownerReferences: [{apiVersion: examples.operkit.dev/v1, kind: CatSet, name: nginx, uid: UID, controller: true, blockOwnerDeletion: true}]
spec:
  hostname: nginx-NUMBER
  subdomain: SUBDOMAIN
  terminationGracePeriodSeconds: 10
  containers: [{name: nginx, image: "nginx:1.28", ports: [{name: web, containerPort: 80}], volumeMounts: [{name: data, mountPath: /usr/share/nginx/html}]}]
  volumes: [{name: data, persistentVolumeClaim: {claimName: data-nginx-NUMBER}}]`
	formerClaim = `
apiVersion: v1
kind: PersistentVolumeClaim
metadata:
  name: data-nginx-NUMBER
  ownerReferences: [{apiVersion: examples.operkit.dev/v1, kind: CatSet, name: nginx, uid: UID, controller: true, blockOwnerDeletion: true}]
spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}`
)
