{{/* The labels of every object. */}}
{{- define "labels" -}}
app.kubernetes.io/name: {{ .Name | quote }}
app.kubernetes.io/version: {{ .Version | default "none" | quote }}
{{- end }}
