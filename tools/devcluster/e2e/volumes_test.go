package e2e

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/operkit/operkit/tools/devcluster/internal/component"
)

// database is a StatefulSet whose Pods have a volume of the default class, and one of the class immediate.
const database = `apiVersion: apps/v1
kind: StatefulSet
metadata: {name: database}
spec:
  replicas: 2
  serviceName: database
  selector: {matchLabels: {app: database}}
  template:
    metadata: {labels: {app: database}}
    spec:
      containers:
      - {name: database, image: none, volumeMounts: [{name: data, mountPath: /data}, {name: log, mountPath: /log}]}
  volumeClaimTemplates:
  - metadata: {name: data}
    spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}
  - metadata: {name: log}
    spec: {storageClassName: immediate, accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}
`

// TestVolumes binds claims of all sorts in one cluster.
func TestVolumes(t *testing.T) {
	t.Parallel()
	c := up(t)
	assert.Equal(t, "immediate Immediate \nstandard WaitForFirstConsumer true\n", c.kubectl("get", "storageclasses", "-o",
		`jsonpath={range .items[*]}{.metadata.name} {.volumeBindingMode} {.metadata.annotations.storageclass\.kubernetes\.io/is-default-class}{"\n"}{end}`))

	t.Run("a StatefulSet with claims becomes ready", func(t *testing.T) {
		c.apply(database)
		begin := time.Now()
		c.kubectl("rollout", "status", "statefulset/database", "--timeout=60s")
		t.Logf("ready in %s", time.Since(begin).Round(time.Millisecond))
		assert.Equal(t, "fake-0", c.volumeOf("data-database-0", `{.spec.nodeAffinity..values[0]}`), "the node that the scheduler has selected")
		assert.Equal(t, "Exists", c.volumeOf("log-database-0", `{.spec.nodeAffinity..operator}`), "all nodes")
	})
	t.Run("a claim of the class immediate is bound without a Pod, as it wants", func(t *testing.T) {
		c.claim("raw", "storageClassName: immediate, volumeMode: Block, accessModes: [ReadWriteMany, ReadOnlyMany], resources: {requests: {storage: 3Gi}}")
		c.bound("raw")
		assert.Equal(t, `3Gi Block ["ReadWriteMany","ReadOnlyMany"] Delete immediate`, c.volumeOf("raw",
			`{.spec.capacity.storage} {.spec.volumeMode} {.spec.accessModes} {.spec.persistentVolumeReclaimPolicy} {.spec.storageClassName}`))
	})
	t.Run("a claim of the default class waits for a Pod", func(t *testing.T) {
		c.claim("unused", "accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}")
		c.awaitEvent("unused", "WaitForFirstConsumer")
		assert.Equal(t, "standard Pending", c.kubectl("get", "pvc", "unused", "-o", "jsonpath={.spec.storageClassName} {.status.phase}"))
	})
	t.Run("a claim whose selected node is gone is scheduled again", func(t *testing.T) {
		c.kubectl("annotate", "pvc", "unused", "volume.kubernetes.io/selected-node=gone")
		c.kubectl("wait", "pvc/unused", "--timeout=60s", `--for=jsonpath={.metadata.annotations.volume\.kubernetes\.io/storage-provisioner}=operkit.dev/devcluster`)
		requireEventually(t, "the annotation is removed", func() bool {
			return !strings.Contains(c.kubectl("get", "pvc", "unused", "-o", "jsonpath={.metadata.annotations}"), "selected-node")
		})
	})
	t.Run("a claim with a selector gets no volume, and an event says why", func(t *testing.T) {
		c.claim("choosy", "storageClassName: immediate, selector: {matchLabels: {a: b}}, accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}")
		c.awaitEvent("choosy", "ProvisioningFailed")
	})
	t.Run("a bound claim grows", func(t *testing.T) {
		c.kubectl("patch", "pvc", "data-database-1", "--type=merge", "-p", `{"spec":{"resources":{"requests":{"storage":"2Gi"}}}}`)
		c.kubectl("wait", "pvc/data-database-1", "--for=jsonpath={.status.capacity.storage}=2Gi", "--timeout=60s")
		assert.Equal(t, "2Gi", c.volumeOf("data-database-1", "{.spec.capacity.storage}"))
	})
	t.Run("the volume of a deleted claim is deleted, unless its class retains it", func(t *testing.T) { testReclaim(t, c) })
}

func testReclaim(t *testing.T, c *cluster) {
	t.Helper()
	c.apply(`apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: kept}
provisioner: operkit.dev/devcluster
reclaimPolicy: Retain
mountOptions: [noatime]
`)
	c.claim("kept", "storageClassName: kept, accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}")
	c.bound("kept")
	assert.Equal(t, `["noatime"]`, c.volumeOf("kept", "{.spec.mountOptions}"))
	kept := c.kubectl("get", "pvc", "kept", "-o", "jsonpath={.spec.volumeName}")
	c.kubectl("delete", "statefulset", "database")
	c.kubectl("delete", "pvc", "--all", "--timeout=60s")
	requireEventually(t, "only the volume of the class kept is left", func() bool {
		return c.kubectl("get", "pv", "-o", "jsonpath={.items[*].metadata.name}") == kept
	})
	c.kubectl("wait", "pv/"+kept, "--for=jsonpath={.status.phase}=Released", "--timeout=60s")
}

// TestVolumesNeedControllers has clusters of fewer components.
func TestVolumesNeedControllers(t *testing.T) {
	t.Parallel()
	t.Run("without controllers there is no class, so no claim waits for one", func(t *testing.T) {
		t.Parallel()
		c := up(t, "--components", "etcd,apiserver")
		assert.Empty(t, c.kubectl("get", "storageclasses", "-o", "name"))
	})
	t.Run("the class immediate needs neither a scheduler nor nodes", func(t *testing.T) {
		t.Parallel()
		c := up(t, "--components", "etcd,apiserver,controller-manager")
		c.claim("data", "storageClassName: immediate, accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}")
		c.bound("data")
	})
}

// testVolumesAfterRestarts: components that were restarted go on with the claims and volumes that are there.
func testVolumesAfterRestarts(c *cluster) {
	c.t.Helper()
	c.apply(database)
	c.kubectl("rollout", "status", "statefulset/database", "--timeout=60s")
	c.component("stop", component.ControllerManager)
	c.kubectl("delete", "statefulset", "database", "--cascade=background")
	c.kubectl("delete", "pvc", "--all", "--wait=false")
	c.component("start", component.ControllerManager)
	requireEventually(c.t, "the volumes are deleted", func() bool { return c.kubectl("get", "pv", "-o", "name") == "" })
}

func (c *cluster) claim(name, spec string) {
	c.t.Helper()
	c.apply("{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: " + name + "}, spec: {" + spec + "}}")
}

func (c *cluster) bound(claim string) {
	c.t.Helper()
	c.kubectl("wait", "pvc/"+claim, "--for=jsonpath={.status.phase}=Bound", "--timeout=60s")
}

// volumeOf prints fields of the volume that a claim is bound to.
func (c *cluster) volumeOf(claim, fields string) string {
	c.t.Helper()
	volume := c.kubectl("get", "pvc", claim, "-o", "jsonpath={.spec.volumeName}")
	return c.kubectl("get", "pv", volume, "-o", "jsonpath="+fields)
}

// awaitEvent waits for an Event with that reason about a claim.
func (c *cluster) awaitEvent(claim, reason string) {
	c.t.Helper()
	requireEventually(c.t, reason, func() bool {
		return c.kubectl("get", "events", "-o", "name", "--field-selector", "involvedObject.name="+claim+",reason="+reason) != ""
	})
}
