package readiness

import (
	"strings"
	"testing"
)

// pods is a template of Pods that stay where they are until somebody ungates them.
const pods = `
    metadata: {labels: {app: it}}
    spec:
      schedulingGates: [{name: operkit.dev/held}]
      containers: [{name: main, image: none}]`

// free is the same for Pods that run at once.
const free = `
    metadata: {labels: {app: it}}
    spec:
      containers: [{name: main, image: none}]`

var workloads = []story{
	{
		kind: "Deployment.apps", reason: "ready when its Pods are",
		manifest: `
apiVersion: apps/v1
kind: Deployment
metadata: {name: it}
spec:
  replicas: 2
  selector: {matchLabels: {app: it}}
  template:` + pods,
		steps: []step{{"LessReady", ungate(2)}}, states: becomes,
		agrees:  rollout("deployment/it", "successfully rolled out"),
		follows: wait("condition=Available", "deployment/it"),
	},
	{
		kind: "Deployment.apps", reason: "without Pods it is ready once its controller has said so",
		manifest: `
apiVersion: apps/v1
kind: Deployment
metadata: {name: it}
spec:
  replicas: 0
  selector: {matchLabels: {app: it}}
  template:` + free,
		states: becomes, agrees: rollout("deployment/it", "successfully rolled out"),
	},
	{
		kind: "StatefulSet.apps", reason: "ready when its Pods are",
		manifest: `
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: it}
spec:
  replicas: 2
  podManagementPolicy: Parallel
  selector: {matchLabels: {app: it}}
  template:` + pods,
		steps: []step{{"LessReady", ungate(2)}}, states: becomes,
		agrees: rollout("statefulset/it", "partitioned roll out complete: 2 new pods"),
	},
	{
		kind: "StatefulSet.apps", reason: "with a partition the Pods below it needn't be updated",
		manifest: `
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: it}
spec:
  replicas: 2
  updateStrategy: {rollingUpdate: {partition: 1}}
  selector: {matchLabels: {app: it}}
  template:` + free,
		states: becomes, agrees: rollout("statefulset/it", "partitioned roll out complete"),
	},
	{
		kind: "DaemonSet.apps", reason: "ready when its Pod on every node is",
		manifest: `
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: it}
spec:
  selector: {matchLabels: {app: it}}
  template:` + strings.Replace(pods, "spec:", "spec:\n      nodeSelector: {type: kwok} # other tests make nodes too", 1),
		steps: []step{{"LessAvailable", ungate(1)}}, states: becomes,
		agrees: rollout("daemonset/it", "successfully rolled out"),
	},
	{
		kind: "ReplicaSet.apps", reason: "ready when its Pods are",
		manifest: `
apiVersion: apps/v1
kind: ReplicaSet
metadata: {name: it}
spec:
  replicas: 2
  selector: {matchLabels: {app: it}}
  template:` + pods,
		steps: []step{{"LessAvailable", ungate(2)}}, states: becomes,
		agrees: wait("jsonpath={.status.availableReplicas}=2", "replicaset/it"),
	},
	{
		kind: "ReplicationController", reason: "ready when its Pods are",
		manifest: `
apiVersion: v1
kind: ReplicationController
metadata: {name: it}
spec:
  replicas: 2
  selector: {app: it}
  template:` + pods,
		steps: []step{{"LessAvailable", ungate(2)}}, states: becomes,
		agrees: wait("jsonpath={.status.availableReplicas}=2", "replicationcontroller/it"),
	},
	{
		kind: "Pod", reason: "ready when it says so",
		manifest: `
apiVersion: v1
kind: Pod
metadata: {name: it}
spec:
  schedulingGates: [{name: operkit.dev/held}]
  containers: [{name: main, image: none}]`,
		steps: []step{{"PodPending", ungate(1)}}, states: becomes,
		agrees: wait("condition=Ready", "pod/it"),
	},
	{
		kind: "Job.batch", reason: "ready when it is complete, not when it runs",
		manifest: `
apiVersion: batch/v1
kind: Job
metadata: {name: it}
spec:
  template:
    metadata: {labels: {app: it}}
    spec:
      restartPolicy: Never
      schedulingGates: [{name: operkit.dev/held}]
      containers: [{name: main, image: none}]`,
		steps: []step{{"JobRunning", ungate(1)}}, states: becomes,
		agrees: wait("condition=Complete", "job/it"),
	},
	{
		kind: "Job.batch", reason: "a suspended one is on its way",
		manifest: `
apiVersion: batch/v1
kind: Job
metadata: {name: it}
spec:
  suspend: true
  template:
    spec:
      restartPolicy: Never
      containers: [{name: main, image: none}]`,
		steps: []step{{"Suspended", func(t *testing.T, w *world) {
			t.Helper()
			w.patch(t, "batch/v1", "Job", "it", "{spec: {suspend: false}}")
		}}},
		states: becomes, agrees: wait("condition=Complete", "job/it"),
	},
	{
		kind: "CronJob.batch", reason: "a suspended one is as ready as another",
		manifest: `
apiVersion: batch/v1
kind: CronJob
metadata: {name: it}
spec:
  schedule: 0 0 29 2 *
  suspend: true
  jobTemplate:
    spec:
      template:
        spec:
          restartPolicy: Never
          containers: [{name: main, image: none}]`,
		states: is, agrees: wait("create", "cronjob/it"),
	},
}
