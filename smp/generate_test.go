package smp

// source makes documents out of bytes, so that a fuzzer can steer what they hold.
type source struct{ data []byte }

// next is a number below n; 0 when there are no bytes left.
func (s *source) next(n int) int {
	if len(s.data) == 0 {
		return 0
	}
	b := s.data[0]
	s.data = s.data[1:]
	return int(b) % n
}

func (s *source) text() any { return string(rune('a' + s.next(4))) }

// scalar is mostly a text, sometimes what doesn't belong.
func (s *source) scalar() any {
	switch s.next(8) {
	case 0:
		return int64(s.next(3))
	case 1:
		return float64(s.next(3)) + 0.5
	case 2:
		return s.next(2) == 0
	case 3:
		return nil
	default:
		return s.text()
	}
}

// fields fills a map: each field is there or not, as the bytes say.
func (s *source) fields(makers map[string]func() any, names ...string) map[string]any {
	out := map[string]any{}
	for _, name := range names {
		switch s.next(5) {
		case 0, 1:
		case 2:
			out[name] = nil
		default:
			out[name] = makers[name]()
		}
	}
	return out
}

func (s *source) list(element func() any) any {
	out := []any{}
	for range s.next(5) {
		out = append(out, element())
	}
	return out
}

func (s *source) texts() any { return s.list(s.text) }

func (s *source) labels() any {
	return s.fields(map[string]func() any{"x": s.scalar, "y": s.scalar}, "x", "y")
}

func (s *source) keyed(key string, makers map[string]func() any, names ...string) any {
	return s.list(func() any {
		out := s.fields(makers, names...)
		if s.next(16) != 1 {
			out[key] = s.text()
		}
		return out
	})
}

func (s *source) env() any {
	return s.keyed("name", map[string]func() any{"value": s.scalar, "valueFrom": s.labels}, "value", "valueFrom")
}

func (s *source) containers() any {
	return s.keyed("name", map[string]func() any{
		"image": s.scalar, "env": s.env, "args": s.texts, "securityContext": s.labels,
	}, "image", "env", "args", "securityContext")
}

func (s *source) volumes() any {
	return s.keyed("name", map[string]func() any{"emptyDir": s.labels, "secret": s.labels}, "emptyDir", "secret")
}

func (s *source) spec() any {
	return s.fields(map[string]func() any{
		"containers": s.containers, "volumes": s.volumes, "nodeSelector": s.labels,
		"tolerations": s.env, "hostname": s.scalar, "securityContext": s.labels,
	}, "containers", "volumes", "nodeSelector", "tolerations", "hostname", "securityContext")
}

// pod is a Pod, as good or bad as the bytes have it.
func (s *source) pod() map[string]any {
	metadata := s.fields(map[string]func() any{"finalizers": s.texts, "labels": s.labels}, "finalizers", "labels")
	metadata["name"] = "p"
	return map[string]any{"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": s.spec()}
}
