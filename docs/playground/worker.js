var a=`
import json
from tilesim.player import playground
lambda form: json.dumps(playground.answer(json.loads(form)))
`,r=e=>postMessage(e),i=e=>new URL(e,self.location.href).href;async function d(){let e=fetch(i("tilesim.zip")).then(o=>o.arrayBuffer()),{loadPyodide:s}=await import(i("pyodide/pyodide.mjs")),n=await s({indexURL:i("pyodide/"),packages:["numpy"]});return n.unpackArchive(await e,"zip"),n.runPython(a)}var t=d();t.then(()=>r({kind:"ready"}),e=>r({kind:"failed",sentence:String(e)}));addEventListener("message",async({data:e})=>{try{r({kind:"answer",number:e.number,...JSON.parse((await t)(JSON.stringify(e.form)))})}catch(s){let n=String(s).trim().split(`
`);r({kind:"answer",number:e.number,errors:{schedules:n[n.length-1]}})}});
