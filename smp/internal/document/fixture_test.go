package document_test

import "fmt"

// deployment is a large Deployment, as a text of about 25 kB: 4 containers with 80 variables and 10
// mounts each.
func deployment() map[string]any {
	containers := make([]any, 4)
	for c := range containers {
		env := make([]any, 80)
		for i := range env {
			env[i] = map[string]any{"name": fmt.Sprintf("SETTING_%d_%d", c, i), "value": fmt.Sprintf("value of setting %d", i)}
		}
		mounts := make([]any, 10)
		for i := range mounts {
			mounts[i] = map[string]any{"name": fmt.Sprintf("volume-%d", i), "mountPath": fmt.Sprintf("/var/lib/app/%d", i)}
		}
		containers[c] = map[string]any{
			"name": fmt.Sprintf("container-%d", c), "image": "registry.example.com/team/app:1.2.3",
			"imagePullPolicy": "IfNotPresent",
			"command":         []any{"/bin/app", "--listen=:8080"},
			"env":             env, "volumeMounts": mounts,
			"ports":     []any{map[string]any{"containerPort": int64(8080 + c), "name": "http", "protocol": "TCP"}},
			"resources": map[string]any{"limits": map[string]any{"cpu": "1", "memory": "1Gi"}, "requests": map[string]any{"cpu": 0.5, "memory": "512Mi"}},
		}
	}
	labels := map[string]any{"app": "web", "team": "shop"}
	return map[string]any{
		"apiVersion": "apps/v1", "kind": "Deployment",
		"metadata": map[string]any{"name": "web", "namespace": "shop", "labels": labels},
		"spec": map[string]any{
			"replicas": int64(3), "paused": false,
			"selector": map[string]any{"matchLabels": labels},
			"template": map[string]any{"metadata": map[string]any{"labels": labels}, "spec": map[string]any{"containers": containers, "nodeName": nil}},
		},
	}
}
