package core

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"time"
)

// ValidIdempotencyKey reports whether key may name a call: 1 to MaxIdempotencyKeyBytes visible ASCII characters.
func ValidIdempotencyKey(key string) bool {
	for i := range len(key) {
		if key[i] <= ' ' || key[i] > '~' {
			return false
		}
	}
	return key != "" && len(key) <= MaxIdempotencyKeyBytes
}

// maxWholeBytes is the length up to which an answer is stored uncompressed: creating a compressor would take most of the
// time.
const maxWholeBytes = 2 << 10

// PackAnswer compresses a body for the store, as a gzip member: the answer to a batch is large and repetitive.
func PackAnswer(body []byte) ([]byte, error) {
	if len(body) <= maxWholeBytes {
		return packWhole(body), nil
	}
	var packed bytes.Buffer
	w, err := gzip.NewWriterLevel(&packed, gzip.BestSpeed)
	if err != nil {
		return nil, err
	}
	if _, err := w.Write(body); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return packed.Bytes(), nil
}

// packWhole is a gzip member (RFC 1952) with one stored block (RFC 1951, 3.2.4).
func packWhole(body []byte) []byte {
	b := make([]byte, 0, len(body)+23)
	b = append(b, 0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255, 1)
	b = binary.LittleEndian.AppendUint16(b, uint16(len(body)))
	b = binary.LittleEndian.AppendUint16(b, ^uint16(len(body)))
	b = append(b, body...)
	b = binary.LittleEndian.AppendUint32(b, crc32.ChecksumIEEE(body))
	return binary.LittleEndian.AppendUint32(b, uint32(len(body)))
}

// UnpackAnswer is the inverse of PackAnswer. ErrKeyDamaged means that the stored answer is damaged.
func UnpackAnswer(packed []byte) ([]byte, error) {
	r, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrKeyDamaged, err)
	}
	body, err := io.ReadAll(r)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrKeyDamaged, err)
	}
	return body, r.Close()
}

// KeptJob is stored under the idempotency key of a single job: the accepted job and its outcome. A repeated call's answer is
// made from it.
type KeptJob struct {
	Job       NewJob // without its requested time and dispatch, and without its payload until Repeat
	Submitted Submitted

	whole bool // the payload was stored too
}

// Repeat takes the payload of the repeated call. It equals the first one's, because the key's hash covers the whole body.
func (k *KeptJob) Repeat(payload json.RawMessage) {
	if !k.whole {
		k.Job.Payload = payload
	}
}

// A stored single job begins with a mark. No gzip member does: those of PackAnswer begin with 0x1f.
const (
	keptWhole = 1 // with the payload; no longer written
	keptMark  = 2
)

// keptHead is the length of the mark and the big-endian fields after it: the id, run_at and created_at in microseconds since
// 2000, and the status in two bytes.
const keptHead = 1 + 8 + 8 + 8 + 2

// keptEpoch is PostgreSQL's, 2000-01-01, in Unix microseconds.
const keptEpoch = 946_684_800_000_000

// packedJob is the stored form of a NewJob. The target must come back byte for byte, which JSON inside JSON would not.
type packedJob struct {
	Type         string          `json:"type"`
	Payload      []byte          `json:"payload,omitempty"` // with keptWhole
	Priority     Priority        `json:"priority,omitempty"`
	Tenant       string          `json:"tenant,omitempty"`
	MaxAttempts  int             `json:"max_attempts,omitempty"`
	Timeout      time.Duration   `json:"timeout,omitempty"`
	ExpiresAt    time.Time       `json:"expires_at,omitzero"`
	ExpiresAfter time.Duration   `json:"expires_after,omitempty"`
	Backoff      []time.Duration `json:"backoff,omitzero"`
	Target       []byte          `json:"target,omitempty"`
	Tags         []string        `json:"tags,omitzero"`
	Trace        string          `json:"trace,omitempty"`
}

// PackJob encodes job for the store, after the head. It leaves out the payload, which may be large and which every repeated
// call contains.
func PackJob(j *NewJob) ([]byte, error) {
	return json.Marshal(packedJob{
		j.Type, nil, j.Priority, j.Tenant, j.MaxAttempts, j.Timeout, j.ExpiresAt, j.ExpiresAfter, j.Backoff, j.Target, j.Tags, j.Trace,
	})
}

// KeptHead precedes a packed job in the store.
func KeptHead(s Submitted) []byte {
	b := make([]byte, 0, keptHead)
	b = binary.BigEndian.AppendUint64(append(b, keptMark), uint64(s.ID))
	b = binary.BigEndian.AppendUint64(b, uint64(s.RunAt.UnixMicro()-keptEpoch))
	b = binary.BigEndian.AppendUint64(b, uint64(s.CreatedAt.UnixMicro()-keptEpoch))
	return binary.BigEndian.AppendUint16(b, uint16(s.Status))
}

// ReadKept reads an earlier answer from the bytes that a store keeps under an idempotency key. ErrKeyDamaged means that they
// are damaged.
func ReadKept(status int, kept []byte) (once Once, err error) {
	once.Replayed = true
	if len(kept) == 0 || kept[0] != keptMark && kept[0] != keptWhole {
		once.Answer.Status = status
		if once.Answer.Body, err = UnpackAnswer(kept); err == nil && (status < 200 || status > 599) {
			err = fmt.Errorf("%w: status %d", ErrKeyDamaged, status)
		}
		return once, err
	}
	var p packedJob
	if len(kept) < keptHead {
		err = errors.New("too short")
	} else {
		err = json.Unmarshal(kept[keptHead:], &p)
	}
	if err != nil {
		return Once{}, fmt.Errorf("%w: %w", ErrKeyDamaged, err)
	}
	number := func(at int) int64 { return int64(binary.BigEndian.Uint64(kept[at:])) }
	instant := func(at int) time.Time { return time.UnixMicro(keptEpoch + number(at)).UTC() }
	once.Kept = &KeptJob{
		Job: NewJob{
			Type: p.Type, Payload: p.Payload, Priority: p.Priority, Tenant: p.Tenant, MaxAttempts: p.MaxAttempts, Timeout: p.Timeout,
			ExpiresAt: p.ExpiresAt, ExpiresAfter: p.ExpiresAfter, Backoff: p.Backoff, Target: p.Target, Tags: p.Tags, Trace: p.Trace,
		},
		Submitted: Submitted{ID: number(1), RunAt: instant(9), CreatedAt: instant(17), Status: Status(binary.BigEndian.Uint16(kept[25:]))},
		whole:     kept[0] == keptWhole,
	}
	return once, nil
}
