package wire

import (
	"bytes"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
)

// What the other side sends may be anything: it is an error or a message, and never a panic, whatever it is then taken for.
func FuzzFrames(f *testing.F) {
	for _, body := range []any{
		Greeting{Protocol: 1, Version: "1.0.0"}, Declaration{Kinds: []ControlledKind{{Kind: Kind{Version: "v1", Name: "House"}, Owned: []Source{{}}}}},
		Session{ID: "x", Resource: map[string]any{"a": []any{int64(1), 1.5, nil}}}, Described{Components: []Component{{Name: "c", Objects: []Object{{Name: "o"}}}}},
		HookCall{Outcome: &Outcome{Components: []ComponentOutcome{{Problem: &Problem{Type: "Stale"}}}}}, EventQuery{Old: map[string]any{}}, Read{}, nil, "text",
	} {
		frame, err := newFrame(call, 1, "setup", &Problem{Text: "no", Ref: &Ref{}}, body)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(bytes.Clone(frame.Bytes()))
	}
	f.Add(framed([]byte{0x85, 1, 0x1b, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x60, 0xf6, 0x9b, 0, 0, 0, 0, 0x7f, 0xff, 0xff, 0xff}))
	f.Add(framed(append([]byte{0x85, 1, 1, 0x60, 0xf6}, bytes.Repeat([]byte{0x81}, 2000)...)))
	f.Fuzz(func(t *testing.T, stream []byte) {
		in := bytes.NewReader(stream)
		for {
			m, err := readFrame(in)
			if err != nil {
				return
			}
			if err := m.problem.Err(); err != nil {
				_ = NewProblem(err).Err().Error()
			}
			for _, target := range []any{
				new(any), &Greeting{}, &Declaration{}, &Session{}, &Described{}, &Objects{}, &Part{}, &HookCall{}, &HookAnswer{}, &EventQuery{},
				&Read{}, &Found{}, &Recorded{}, &Logged{}, &SourceReport{}, &Kind{}, new(string), new(bool), new(map[string]any), &[]Ref{},
			} {
				err := Decode(m.body, target)
				if said, ok := target.(*Declaration); ok && err == nil {
					_ = said.Check()
				}
				if hooked, ok := target.(*HookCall); ok && err == nil {
					_, _ = hooked.Outcome.Outcome(), hooked.Given.Err()
				}
				if value, ok := target.(*any); ok && err == nil {
					_ = runtime.DeepCopyJSONValue(*value) // it panics at what no object holds
					if _, err := newFrame(answer, 1, "", nil, *value); err != nil {
						t.Fatalf("what was read can't be written: %v", err)
					}
				}
			}
		}
	})
}
