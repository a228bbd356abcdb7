package connection

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// Env returns an environment variable for each part that has a key or a value of its own: prefix + HOST, PORT,
// USERNAME, PASSWORD, DATABASE, URI, TYPE, PROVIDER and REGION. The variables refer to the keys of the Secret or the
// ConfigMap, so that the Pod has no content of them; only a value of Source.Parts is written out. Parts that are only
// inside the URI have no variable, and the CA has none: see Volume.
func (b *Binding) Env(prefix string) []corev1.EnvVar {
	var all []corev1.EnvVar
	for _, part := range parts {
		from, found := b.found[part]
		if !found || part == CA {
			continue
		}
		variable := corev1.EnvVar{Name: prefix + strings.ToUpper(string(part))}
		switch {
		case from.Secret != "":
			variable.ValueFrom = &corev1.EnvVarSource{SecretKeyRef: &corev1.SecretKeySelector{
				LocalObjectReference: corev1.LocalObjectReference{Name: from.Secret}, Key: from.Key,
			}}
		case from.ConfigMap != "":
			variable.ValueFrom = &corev1.EnvVarSource{ConfigMapKeyRef: &corev1.ConfigMapKeySelector{
				LocalObjectReference: corev1.LocalObjectReference{Name: from.ConfigMap}, Key: from.Key,
			}}
		default:
			variable.Value = from.Value
		}
		all = append(all, variable)
	}
	return all
}

// mode lets the owner and the group read a file.
const mode int32 = 0o440

// Volume returns a volume with a file for each of the given parts that has a key of its own, named as the part: host,
// password, ca.crt. Without parts it has all of them, as the Service Binding specification has them below
// $SERVICE_BINDING_ROOT/NAME. Values of Source.Parts, and parts that are only inside the URI, have no file. Volume
// returns false if there is no file.
func (b *Binding) Volume(name string, wanted ...Part) (corev1.Volume, bool) {
	if len(wanted) == 0 {
		wanted = parts
	}
	projected := &corev1.ProjectedVolumeSource{DefaultMode: new(mode)}
	for _, part := range wanted {
		from := b.found[part]
		items := []corev1.KeyToPath{{Key: from.Key, Path: string(part)}}
		switch {
		case from.Secret != "":
			projected.Sources = append(projected.Sources, corev1.VolumeProjection{Secret: &corev1.SecretProjection{
				LocalObjectReference: corev1.LocalObjectReference{Name: from.Secret}, Items: items,
			}})
		case from.ConfigMap != "":
			projected.Sources = append(projected.Sources, corev1.VolumeProjection{ConfigMap: &corev1.ConfigMapProjection{
				LocalObjectReference: corev1.LocalObjectReference{Name: from.ConfigMap}, Items: items,
			}})
		}
	}
	return corev1.Volume{Name: name, VolumeSource: corev1.VolumeSource{Projected: projected}}, len(projected.Sources) > 0
}
