/* Graphics and video interfaces, on a machine that has none: null and dead arguments. */
#include "words.h"

void group_graphics(void)
{
    CUgraphicsResource r[2] = {NULL, NULL};
    uint64_t out[4] = {0};
    T("cold.map", cuGraphicsMapResources, 1, r, NULL);
    setup();
    T("map.zero", cuGraphicsMapResources, 0, r, NULL);
    T("map.null", cuGraphicsMapResources, 1, NULL, NULL);
    T("map.nullhandle", cuGraphicsMapResources, 1, r, NULL);
    T("unmap.zero", cuGraphicsUnmapResources, 0, r, NULL);
    T("unmap.nullzero", cuGraphicsUnmapResources, 0, NULL, NULL);
    T("unmap.null", cuGraphicsUnmapResources, 1, NULL, NULL);
    T("unmap.nullhandle", cuGraphicsUnmapResources, 1, r, NULL);
    T("unregister.null", cuGraphicsUnregisterResource, NULL);
    W("pointer", "cuGraphicsResourceGetMappedPointer", A(out), A(out + 1), 0);
    W("pointer2", "cuGraphicsResourceGetMappedPointer_v2", A(out), A(out + 1), 0);
    W("pointer2.null", "cuGraphicsResourceGetMappedPointer_v2", 0, 0, 0);
    W("flags", "cuGraphicsResourceSetMapFlags", 0, 0);
    W("flags2", "cuGraphicsResourceSetMapFlags_v2", 0, 0);
    W("flags2.bad", "cuGraphicsResourceSetMapFlags_v2", 0, 9);
    W("mipmap", "cuGraphicsResourceGetMappedMipmappedArray", A(out), 0);
    W("mipmap.null", "cuGraphicsResourceGetMappedMipmappedArray", 0, 0);
    W("array", "cuGraphicsSubResourceGetMappedArray", A(out), 0, 0, 0);
    W("array.null", "cuGraphicsSubResourceGetMappedArray", 0, 0, 0, 0);
    W("eglframe", "cuGraphicsResourceGetMappedEglFrame", A(out), 0, 0, 0);
    W("eglframe.null", "cuGraphicsResourceGetMappedEglFrame", 0, 0, 0, 0);
    T("sync", cuCtxSynchronize);
}

void group_gl(void)
{
    uint64_t out[4] = {0}, devices[4] = {0};
    W("cold.init", "cuGLInit", 0);
    W("cold.devices", "cuGLGetDevices_v2", A(out), A(devices), 4, 1);
    setup();
    W("init", "cuGLInit", 0);
    for (uint64_t list = 0; list <= 4; list++) {
        W(N("devices.%d", (int)list), "cuGLGetDevices", A(out), A(devices), 4, list);
        W(N("devices2.%d", (int)list), "cuGLGetDevices_v2", A(out), A(devices), 4, list);
    }
    W("devices2.nullcount", "cuGLGetDevices_v2", 0, A(devices), 4, 1);
    W("devices2.nulldevices", "cuGLGetDevices_v2", A(out), 0, 4, 1);
    W("devices2.zero", "cuGLGetDevices_v2", A(out), A(devices), 0, 1);
    W("ctx", "cuGLCtxCreate", A(out), 0, 0);
    W("ctx2", "cuGLCtxCreate_v2", A(out), 0, 0);
    W("ctx2.null", "cuGLCtxCreate_v2", 0, 0, 0);
    W("ctx2.baddevice", "cuGLCtxCreate_v2", A(out), 0, 99);
    W("buffer", "cuGraphicsGLRegisterBuffer", A(out), 1, 0);
    W("buffer.zero", "cuGraphicsGLRegisterBuffer", A(out), 0, 0);
    W("buffer.flags", "cuGraphicsGLRegisterBuffer", A(out), 1, 99);
    W("buffer.null", "cuGraphicsGLRegisterBuffer", 0, 1, 0);
    W("image", "cuGraphicsGLRegisterImage", A(out), 1, 0xde1, 0);
    W("image.target", "cuGraphicsGLRegisterImage", A(out), 1, 0, 0);
    W("image.flags", "cuGraphicsGLRegisterImage", A(out), 1, 0xde1, 99);
    W("image.null", "cuGraphicsGLRegisterImage", 0, 1, 0xde1, 0);
    W("registerobject", "cuGLRegisterBufferObject", 1);
    W("mapobject", "cuGLMapBufferObject", A(out), A(out + 1), 1);
    W("mapobject2", "cuGLMapBufferObject_v2", A(out), A(out + 1), 1);
    W("mapobject2.null", "cuGLMapBufferObject_v2", 0, 0, 1);
    W("mapasync", "cuGLMapBufferObjectAsync", A(out), A(out + 1), 1, 0);
    W("mapasync2", "cuGLMapBufferObjectAsync_v2", A(out), A(out + 1), 1, 0);
    W("setflags", "cuGLSetBufferObjectMapFlags", 1, 0);
    W("unmapobject", "cuGLUnmapBufferObject", 1);
    W("unmapasync", "cuGLUnmapBufferObjectAsync", 1, 0);
    W("unregisterobject", "cuGLUnregisterBufferObject", 1);
    T("sync", cuCtxSynchronize);
}

void group_egl(void)
{
    uint64_t connection = 0, frame[32] = {0}, resource = 0;
    W("cold.init", "cuEGLApiInit", 0);
    W("cold.connect", "cuEGLStreamConsumerConnect", A(&connection), 0);
    setup();
    W("init", "cuEGLApiInit", 0);
    W("connect", "cuEGLStreamConsumerConnect", A(&connection), 0);
    W("connect.null", "cuEGLStreamConsumerConnect", 0, 0);
    W("connectflags", "cuEGLStreamConsumerConnectWithFlags", A(&connection), 0, 0);
    W("connectflags.bad", "cuEGLStreamConsumerConnectWithFlags", A(&connection), 0, 9);
    W("disconnect", "cuEGLStreamConsumerDisconnect", A(&connection));
    W("disconnect.null", "cuEGLStreamConsumerDisconnect", 0);
    W("acquire", "cuEGLStreamConsumerAcquireFrame", A(&connection), A(&resource), 0, 0);
    W("acquire.null", "cuEGLStreamConsumerAcquireFrame", 0, A(&resource), 0, 0);
    W("release", "cuEGLStreamConsumerReleaseFrame", A(&connection), 0, 0);
    W("release.null", "cuEGLStreamConsumerReleaseFrame", 0, 0, 0);
    W("producer", "cuEGLStreamProducerConnect", A(&connection), 0, 64, 64);
    W("producer.null", "cuEGLStreamProducerConnect", 0, 0, 64, 64);
    W("producer.disconnect", "cuEGLStreamProducerDisconnect", A(&connection));
    W("producer.disconnect.null", "cuEGLStreamProducerDisconnect", 0);
    W("return", "cuEGLStreamProducerReturnFrame", A(&connection), A(frame), 0);
    W("return.null", "cuEGLStreamProducerReturnFrame", 0, A(frame), 0);
    W("image", "cuGraphicsEGLRegisterImage", A(&resource), 0, 0);
    W("image.null", "cuGraphicsEGLRegisterImage", 0, 0, 0);
    T("sync", cuCtxSynchronize);
}

void group_vdpau(void)
{
    uint64_t out[4] = {0};
    W("cold.device", "cuVDPAUGetDevice", A(out), 1, 0);
    setup();
    W("device.null", "cuVDPAUGetDevice", 0, 1, 0);
    W("device", "cuVDPAUGetDevice", A(out), 1, 0);
    W("ctx", "cuVDPAUCtxCreate", A(out), 0, 0, 1, 0);
    W("ctx2", "cuVDPAUCtxCreate_v2", A(out), 0, 0, 1, 0);
    W("ctx2.null", "cuVDPAUCtxCreate_v2", 0, 0, 0, 1, 0);
    W("ctx2.baddevice", "cuVDPAUCtxCreate_v2", A(out), 0, 99, 1, 0);
    W("video", "cuGraphicsVDPAURegisterVideoSurface", A(out), 1, 0);
    W("video.flags", "cuGraphicsVDPAURegisterVideoSurface", A(out), 1, 99);
    W("video.null", "cuGraphicsVDPAURegisterVideoSurface", 0, 1, 0);
    W("output", "cuGraphicsVDPAURegisterOutputSurface", A(out), 1, 0);
    W("output.null", "cuGraphicsVDPAURegisterOutputSurface", 0, 1, 0);
    T("sync", cuCtxSynchronize);
}
