package vcs

// Phase is a part of the work of Setup.
type Phase string

// The phases, in their order.
const (
	// Reading finds out what the versions consist of.
	Reading Phase = "reading"
	// Packing writes the objects, Verifying reads them back.
	Packing   Phase = "packing"
	Verifying Phase = "verifying"
)

// Progress is how far Setup is: Done of Total, which are versions when it is reading, and objects otherwise. Each phase begins with none.
type Progress struct {
	// Phase is what is being done.
	Phase       Phase
	Done, Total int
}

func (b *builder) progress(phase Phase, done, total int) {
	if b.options.Progress != nil {
		b.options.Progress(Progress{phase, done, total})
	}
}
