// Package connection reads how a database, a cache, a bucket or another service is reached: host, port, user, password,
// database and CA, from a Secret with or without a ConfigMap.
//
//	binding, err := connection.Read(ctx, s, connection.Source{Namespace: s.Namespace(), Secret: "orders-app"})
//	if err != nil {
//		return err // waits for the Secret, or names the key that is wrong
//	}
//	container.Env = append(container.Env, binding.Env("DB_")...)
//
// It knows the keys of the Service Binding specification (https://servicebinding.io/spec/core/1.1.0/#well-known-secret-entries),
// of the Secrets that CloudNativePG makes (https://cloudnative-pg.io/documentation/current/applications/), and of an
// ObjectBucketClaim (https://rook.io/docs/rook/latest-release/Storage-Configuration/Object-Storage-RGW/ceph-object-bucket-claim/).
// Others are named in Source.Parts. FromResource makes the Source that a resource of oper8 describes in
// spec.datastores.<type>.connection.
//
// Secrets are read as the session reads them, and followed: a changed Secret brings the resource to reconcile. The
// content of a Secret gets into no Pod template: environment and volumes refer to it. A Hidden value is shown as *** by
// fmt, log/slog and encoding/json. No error repeats content.
//
// The package provisions nothing, and doesn't connect.
package connection
