package readiness

import "testing"

const (
	claim = `
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: it}
spec:
  storageClassName: ""
  volumeName: $namespace
  accessModes: [ReadWriteOnce]
  resources: {requests: {storage: 1Gi}}`

	// volume is kept for the test's own claim, so that no other one can take it.
	volume = `
apiVersion: v1
kind: PersistentVolume
metadata: {name: $namespace}
spec:
  accessModes: [ReadWriteOnce]
  capacity: {storage: 1Gi}
  hostPath: {path: /none}
  claimRef: {namespace: $namespace, name: it}`
)

// provide creates the volume that the claim asks for.
func provide(t *testing.T, w *world) {
	t.Helper()
	w.create(t, volume)
}

var storage = []story{
	{
		kind: "PersistentVolumeClaim", reason: "ready when it is bound",
		manifest: claim, steps: []step{{"ClaimPending", provide}}, states: becomes,
		agrees: wait("jsonpath={.status.phase}=Bound", "persistentvolumeclaim/it"),
	},
	{
		kind: "PersistentVolume", reason: "ready when it is to be had",
		manifest: volume, states: becomes,
		agrees: wait("jsonpath={.status.phase}=Available", "persistentvolume/$namespace"),
	},
	{
		kind: "StorageClass.storage.k8s.io", reason: "it has no status",
		manifest: `
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: $namespace}
provisioner: none.example.test`,
		states: is, agrees: wait("create", "storageclass/$namespace"),
	},
}
