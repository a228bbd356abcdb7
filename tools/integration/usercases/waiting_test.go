package usercases

import (
	"fmt"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/operkit/operkit/deploy"
)

// lateVolume is what a provisioner makes once the scheduler has chosen a node for the first Pod that uses the claim.
const lateVolume = `{apiVersion: v1, kind: PersistentVolume, metadata: {name: late}, spec: {storageClassName: late,
	capacity: {storage: 1Gi}, accessModes: [ReadWriteOnce], claimRef: {namespace: default, name: wffc}, hostPath: {path: /none}}}`

// What those who provide volumes write into the status of a claim that grows.
const (
	growing = `{"conditions":[{"type":"FileSystemResizePending","status":"True","message":"waiting for a Pod"}]}`
	grown   = `{"conditions":null,"capacity":{"storage":"2Gi"}}`
)

// waiting are resources that wait for what others do: provision volumes, make room for Pods.
func waiting() []userCase {
	return []userCase{
		{name: "wffc", reason: "a claim binds at first use: what uses it doesn't wait for it", steps: []step{
			{apply: "wffc/all.yaml", wants: wants(claim("Pending"), field("Deployment", int64(1), "spec", "replicas"))},
			{by: func(s *scene) { s.applyText(lateVolume) }, wants: wants(ready, kept, claim("Bound"))},
		}},
		{name: "claim-resize/c-exp", reason: "a claim's file system grows when a Pod starts: what uses the claim doesn't wait", steps: []step{
			{apply: "claim-resize/classes.json"},
			{apply: "claim-resize/c-exp-1.json", wants: wants(ready, claim("Bound"))},
			{apply: "claim-resize/c-exp-2.json", by: claimStatus(growing), wants: wants(kept, image("nginx:2"), message("resiz"))},
			{by: claimStatus(grown), wants: wants(ready, kept)},
			{apply: "claim-resize/c-exp-4.json", wants: wants(unready, kept, image("nginx:2"), message("can not be less than"))},
		}},
		{name: "quota/box", reason: "it is exceeded: that is why no Pod is there", steps: []step{
			{apply: "quota/all.yaml", by: awaitQuota},
			{apply: "quota/box.json", wants: wants(unready, message("exceeded quota"))},
		}},
		{name: "quota/box2", reason: "it is exceeded, past the deadline: that is why there is no progress", steps: []step{
			{apply: "quota/all.yaml", by: awaitQuota},
			{apply: "quota/box2.json", wants: wants(unready, message("exceeded quota"), pastDeadline)},
		}},
	}
}

func claim(phase string) want { return field("PersistentVolumeClaim", phase, "status", "phase") }

// image wants the Deployment's Pods to have an image.
func image(name string) want {
	return func(s *scene) error {
		deployment, err := standing(s, s.ref("Deployment"))
		if err != nil {
			return err
		}
		containers, _, err := unstructured.NestedSlice(deployment.Object, "spec", "template", "spec", "containers")
		if err == nil && containers[0].(map[string]any)["image"] != name {
			err = fmt.Errorf("%s has the containers %v, and not the image %s", deploy.RefOf(deployment), containers, name)
		}
		return err
	}
}

// pastDeadline wants the Deployment to have given up.
func pastDeadline(s *scene) error {
	deployment, err := standing(s, s.ref("Deployment"))
	if err != nil {
		return err
	}
	list, _, err := unstructured.NestedSlice(deployment.Object, "status", "conditions")
	for _, c := range list {
		if c.(map[string]any)["reason"] == "ProgressDeadlineExceeded" {
			return err
		}
	}
	return fmt.Errorf("%s isn't past its deadline: %v", deploy.RefOf(deployment), list)
}

// claimStatus merges into the status of the resource's claim, once that asks for 2Gi.
func claimStatus(merge string) func(s *scene) {
	return func(s *scene) {
		s.t.Helper()
		s.await(field("PersistentVolumeClaim", "2Gi", "spec", "resources", "requests", "storage"))
		_, err := s.port.Patch(s.t.Context(), s.ref("PersistentVolumeClaim"), deploy.PatchRequest{
			Type: types.MergePatchType, Body: []byte(`{"status":` + merge + `}`), Subresource: "status", FieldManager: "provisioner",
		})
		require.NoError(s.t, err)
	}
}

// awaitQuota waits until the quota is in force: its controller has to look at it first.
func awaitQuota(s *scene) {
	s.t.Helper()
	kind := schema.GroupVersionKind{Version: "v1", Kind: "ResourceQuota"}
	s.await(func(s *scene) error {
		quota, err := standing(s, deploy.Ref{Kind: kind, Namespace: "quo", Name: "q"})
		if err != nil {
			return err
		}
		if _, inForce, _ := unstructured.NestedMap(quota.Object, "status", "hard"); !inForce {
			return fmt.Errorf("%s isn't in force", deploy.RefOf(quota))
		}
		return nil
	})
}
